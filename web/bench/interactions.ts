/** Input latency while an answer is streaming. */
import type { Page } from "playwright-core";
import type { Bench, Figure } from "./main";
import { goTo } from "./opening";
import { seen, throttle, watch } from "./probe";
import { rested, speak } from "./streaming";

const LONG = "10000";

/** The duration of the longest interaction; 0 stands for less than 16 ms, which browsers do not report. */
async function longest(page: Page, work: () => Promise<void>): Promise<number> {
  await watch(page);
  await work();
  await page.waitForTimeout(300);
  return Math.max(0, ...Object.values((await seen(page)).interactions));
}

export async function interactions(bench: Bench, times: number): Promise<readonly Figure[]> {
  const page = await bench.open();
  await goTo(page, LONG, "");
  await speak(bench, page, LONG, 12);
  await throttle(page, times);
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.focus();
  const keys = await longest(page, async () => {
    for (let key = 0; key < 12; key++) {
      await page.keyboard.press("a");
      await page.waitForTimeout(150);
    }
  });
  await box.fill("");
  const menu = await longest(page, async () => {
    for (let round = 0; round < 2; round++) {
      await page.locator("button.mode-button").click();
      await page.getByRole("menuitemradio").first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("menuitemradio").first().waitFor({ state: "detached" });
    }
  });
  const tab = await longest(page, async () => {
    for (const title of ["1000", LONG]) {
      await page.locator(".tabs-list button", { hasText: new RegExp(`^${title}$`) }).click();
      await page.waitForTimeout(400);
    }
  });
  await throttle(page, 1);
  await rested(page);
  await bench.close(page);
  const end = times === 1 ? " while streaming" : `, CPU / ${times}`;
  return [
    { name: `a key in the box${end}`, unit: "ms", ours: keys },
    { name: `the menu of modes${end}`, unit: "ms", ours: menu },
    { name: `another tab${end}`, unit: "ms", ours: tab },
    ...(times === 1 ? await approving(bench) : []),
  ];
}

async function approving(bench: Bench): Promise<readonly Figure[]> {
  const id = bench.contexts["100"] ?? "";
  await bench.ask("PUT", `/api/contexts/${id}/mode`, { mode: "supervised" });
  const page = await bench.open();
  await goTo(page, "100", "");
  await bench.ask("POST", `/api/contexts/${id}/messages`, { payload: { type: "text", content: "call please" } });
  const button = page.getByRole("button", { name: /^Approve( \S+)?$/ }).first(); // the name may end with the shortcut
  await button.waitFor();
  const asked = page.evaluate(
    () =>
      new Promise<number>((done) => {
        let began = 0;
        addEventListener("pointerup", (event) => (began = event.timeStamp), { capture: true, once: true });
        new PerformanceObserver((list) => {
          const found = list.getEntries().find(({ name }) => name.endsWith("/decide"));
          if (found !== undefined) done(found.startTime - began);
        }).observe({ type: "resource" });
      }),
  );
  const approve = await longest(page, () => button.click());
  const sent = await asked;
  await bench.close(page);
  return [
    { name: "approve", unit: "ms", ours: approve },
    { name: "approve: until the decision is sent", unit: "ms", ours: sent },
  ];
}
