/** Input latency while an answer is streaming. */
import type { Page } from "playwright-core";
import type { Bench, Figure } from "./main";
import { openTab } from "./loading";
import { measurements, throttle, startMeasuring } from "./probe";
import { waitUntilIdle, streamAnswer } from "./streaming";

const LONG_TITLE = "10000";

/** The duration of the longest interaction; 0 stands for less than 16 ms, which browsers do not report. */
async function longestInteraction(page: Page, work: () => Promise<void>): Promise<number> {
  await startMeasuring(page);
  await work();
  await page.waitForTimeout(300);
  return Math.max(0, ...Object.values((await measurements(page)).interactions));
}

export async function interactions(bench: Bench, times: number): Promise<readonly Figure[]> {
  const page = await bench.open();
  await openTab(page, LONG_TITLE, "");
  await streamAnswer(bench, page, LONG_TITLE, 12);
  await throttle(page, times);
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.focus();
  const keys = await longestInteraction(page, async () => {
    for (let key = 0; key < 12; key++) {
      await page.keyboard.press("a");
      await page.waitForTimeout(150);
    }
  });
  await box.fill("");
  const menu = await longestInteraction(page, async () => {
    for (let round = 0; round < 2; round++) {
      await page.locator("button.mode-button").click();
      await page.getByRole("menuitemradio").first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("menuitemradio").first().waitFor({ state: "detached" });
    }
  });
  const tab = await longestInteraction(page, async () => {
    for (const title of ["1000", LONG_TITLE]) {
      await page.locator(".tabs-list button", { hasText: new RegExp(`^${title}$`) }).click();
      await page.waitForTimeout(400);
    }
  });
  await throttle(page, 1);
  await waitUntilIdle(page);
  await bench.close(page);
  const end = times === 1 ? " while streaming" : `, CPU / ${times}`;
  return [
    { name: `a key in the box${end}`, unit: "ms", ours: keys },
    { name: `the menu of modes${end}`, unit: "ms", ours: menu },
    { name: `another tab${end}`, unit: "ms", ours: tab },
    ...(times === 1 ? await approval(bench) : []),
  ];
}

async function approval(bench: Bench): Promise<readonly Figure[]> {
  const id = bench.contexts["100"] ?? "";
  await bench.request("PUT", `/api/contexts/${id}/mode`, { mode: "supervised" });
  const page = await bench.open();
  await openTab(page, "100", "");
  await bench.request("POST", `/api/contexts/${id}/messages`, { payload: { type: "text", content: "call please" } });
  const button = page.getByRole("button", { name: /^Approve( \S+)?$/ }).first(); // the name may end with the shortcut
  await button.waitFor();
  const decisionSent = page.evaluate(
    () =>
      new Promise<number>((done) => {
        let startedAt = 0;
        addEventListener("pointerup", (event) => (startedAt = event.timeStamp), { capture: true, once: true });
        new PerformanceObserver((list) => {
          const entry = list.getEntries().find(({ name }) => name.endsWith("/decide"));
          if (entry !== undefined) done(entry.startTime - startedAt);
        }).observe({ type: "resource" });
      }),
  );
  const approve = await longestInteraction(page, () => button.click());
  const sent = await decisionSent;
  await bench.close(page);
  return [
    { name: "approve", unit: "ms", ours: approve },
    { name: "approve: until the decision is sent", unit: "ms", ours: sent },
  ];
}
