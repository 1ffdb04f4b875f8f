/** Loading times: the web client, a conversation, a conversation that was open before. */
import type { Page } from "playwright-core";
import type { Bench, Figure } from "./main";
import { throttle } from "./probe";
import { median } from "./stats";

const RUNS = 5;
const LONG = "10000";
const OTHER = "1000";

export async function firstLoad(bench: Bench): Promise<readonly Figure[]> {
  const ours = await median(RUNS, async () => {
    const page = await bench.open();
    await page.getByRole("textbox").first().waitFor();
    const found = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          new PerformanceObserver((list) => done(list.getEntries().at(-1)?.startTime ?? 0)).observe({
            type: "largest-contentful-paint",
            buffered: true,
          });
        }),
    );
    await bench.close(page);
    return found;
  });
  return [{ name: "first load of the page, LCP", unit: "ms", ours }];
}

/**
 * Switches to a tab. Returns the milliseconds from the click until a message starting with `last` is painted at the
 * end.
 */
export function goTo(page: Page, title: string, last = String(Number(title) - 1)): Promise<number> {
  return page.evaluate(
    ({ name, words }) =>
      new Promise<number>((done, fail) => {
        const tab = [...document.querySelectorAll<HTMLElement>(".tabs-list button")].find(
          (each) => each.textContent?.trim() === name,
        );
        const began = performance.now();
        tab?.click();
        const look = () => {
          const list = document.querySelector(".transcript");
          const rows = [...(list?.querySelectorAll("[data-row]") ?? [])].slice(-3);
          const edge = list?.getBoundingClientRect();
          const isActive = document.querySelector(".tab.is-active")?.textContent?.includes(name) === true;
          const isSeen = (row: Element) =>
            row.textContent?.startsWith(words) === true && row.getBoundingClientRect().top < (edge?.bottom ?? 0);
          const isThere = isActive && rows.some(isSeen);
          if (!isThere && performance.now() - began > 20_000)
            return fail(new Error(`there is no ${name}: ${rows.at(-1)?.textContent?.slice(0, 40) ?? "no row"}`));
          if (!isThere) return requestAnimationFrame(look);
          const { port1, port2 } = new MessageChannel();
          port2.onmessage = () => done(performance.now() - began);
          return port1.postMessage(null);
        };
        requestAnimationFrame(look);
      }),
    { name: title, words: last },
  );
}

async function cold(bench: Bench, times: number): Promise<number> {
  const page = await bench.open();
  await page.locator(".tabs-list button", { hasText: /^100$/ }).click();
  await page.locator("[data-row]").last().waitFor();
  await throttle(page, times);
  const found = await goTo(page, LONG);
  await bench.close(page);
  return found;
}

export async function opening(bench: Bench, plain: { readonly milliseconds: number }): Promise<readonly Figure[]> {
  const page = await bench.open();
  for (const title of [OTHER, LONG, OTHER]) await goTo(page, title);
  const warm = await median(RUNS, async () => {
    const found = await goTo(page, LONG);
    await goTo(page, OTHER);
    return found;
  });
  const loaded = await median(RUNS, async () => {
    await goTo(page, LONG);
    return goTo(page, OTHER);
  });
  await bench.close(page);
  return [
    {
      name: "open 10,000 messages, cold",
      unit: "ms",
      ours: await median(RUNS, () => cold(bench, 1)),
      floor: plain.milliseconds,
    },
    { name: "open 10,000 messages, warm", unit: "ms", ours: warm, floor: plain.milliseconds },
    { name: "switch to a loaded tab", unit: "ms", ours: loaded },
    { name: "open 10,000 messages, cold, CPU / 4", unit: "ms", ours: await median(3, () => cold(bench, 4)) },
  ];
}

/** DOM size and heap of a page with the long conversation, after scrolling up repeatedly. */
export async function weight(bench: Bench): Promise<readonly Figure[]> {
  const page = await bench.open();
  await goTo(page, LONG);
  for (let round = 0; round < 10; round++) {
    await page.getByRole("log").press("Home");
    await page.waitForTimeout(100);
  }
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const elements = await page.evaluate(() => document.getElementsByTagName("*").length);
  await bench.close(page);
  return [
    { name: "elements with 10,000 messages", unit: "", ours: elements },
    { name: "JS heap with 10,000 messages", unit: "MB", ours: usedSize / 1024 ** 2 },
  ];
}
