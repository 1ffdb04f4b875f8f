/** Loading times: the web client, a conversation, a conversation that was open before. */
import type { Page } from "playwright-core";
import type { Bench, Figure } from "./main";
import { throttle } from "./probe";
import { median } from "./stats";

const RUN_COUNT = 5;
const LONG_TITLE = "10000";
const OTHER_TITLE = "1000";

export async function firstLoad(bench: Bench): Promise<readonly Figure[]> {
  const ours = await median(RUN_COUNT, async () => {
    const page = await bench.open();
    await page.getByRole("textbox").first().waitFor();
    const result = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          new PerformanceObserver((list) => done(list.getEntries().at(-1)?.startTime ?? 0)).observe({
            type: "largest-contentful-paint",
            buffered: true,
          });
        }),
    );
    await bench.close(page);
    return result;
  });
  return [{ name: "first load of the page, LCP", unit: "ms", ours }];
}

/**
 * Switches to a tab. Returns the milliseconds from the click until a message starting with `last` is painted at the
 * end.
 */
export function openTab(page: Page, title: string, last = String(Number(title) - 1)): Promise<number> {
  return page.evaluate(
    ({ name, words }) =>
      new Promise<number>((done, fail) => {
        const tab = [...document.querySelectorAll<HTMLElement>(".tabs-list button")].find(
          (each) => each.textContent?.trim() === name,
        );
        const startedAt = performance.now();
        tab?.click();
        const check = () => {
          const list = document.querySelector(".transcript");
          const rows = [...(list?.querySelectorAll("[data-row]") ?? [])].slice(-3);
          const edge = list?.getBoundingClientRect();
          const isActive = document.querySelector(".tab.is-active")?.textContent?.includes(name) === true;
          const isVisible = (row: Element) =>
            row.textContent?.startsWith(words) === true && row.getBoundingClientRect().top < (edge?.bottom ?? 0);
          const isPainted = isActive && rows.some(isVisible);
          if (!isPainted && performance.now() - startedAt > 20_000)
            return fail(new Error(`there is no ${name}: ${rows.at(-1)?.textContent?.slice(0, 40) ?? "no row"}`));
          if (!isPainted) return requestAnimationFrame(check);
          const { port1, port2 } = new MessageChannel();
          port2.onmessage = () => done(performance.now() - startedAt);
          return port1.postMessage(null);
        };
        requestAnimationFrame(check);
      }),
    { name: title, words: last },
  );
}

async function openCold(bench: Bench, times: number): Promise<number> {
  const page = await bench.open();
  await page.locator(".tabs-list button", { hasText: /^100$/ }).click();
  await page.locator("[data-row]").last().waitFor();
  await throttle(page, times);
  const result = await openTab(page, LONG_TITLE);
  await bench.close(page);
  return result;
}

export async function openingTimes(bench: Bench, plain: { readonly milliseconds: number }): Promise<readonly Figure[]> {
  const page = await bench.open();
  for (const title of [OTHER_TITLE, LONG_TITLE, OTHER_TITLE]) await openTab(page, title);
  const warm = await median(RUN_COUNT, async () => {
    const result = await openTab(page, LONG_TITLE);
    await openTab(page, OTHER_TITLE);
    return result;
  });
  const loaded = await median(RUN_COUNT, async () => {
    await openTab(page, LONG_TITLE);
    return openTab(page, OTHER_TITLE);
  });
  await bench.close(page);
  return [
    {
      name: "open 10,000 messages, cold",
      unit: "ms",
      ours: await median(RUN_COUNT, () => openCold(bench, 1)),
      floor: plain.milliseconds,
    },
    { name: "open 10,000 messages, warm", unit: "ms", ours: warm, floor: plain.milliseconds },
    { name: "switch to a loaded tab", unit: "ms", ours: loaded },
    { name: "open 10,000 messages, cold, CPU / 4", unit: "ms", ours: await median(3, () => openCold(bench, 4)) },
  ];
}

/** DOM size and heap of a page with the long conversation, after scrolling up repeatedly. */
export async function memory(bench: Bench): Promise<readonly Figure[]> {
  const page = await bench.open();
  await openTab(page, LONG_TITLE);
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
