/** Streaming at 200 tokens a second, at the end of 10,000 messages. */
import type { Page } from "playwright-core";
import type { Bench, Figure } from "./main";
import { openTab } from "./loading";
import { type Measurements, measurements, throttle, startMeasuring } from "./probe";
import { percentile, percentOver, sum } from "./stats";

const LONG_TITLE = "10000";

/** Makes the model stream for some seconds. Returns when its first tokens are displayed. */
export async function streamAnswer(bench: Bench, page: Page, title: string, seconds: number): Promise<void> {
  const before = await page.evaluate(
    () =>
      document
        .querySelector(".transcript")
        ?.textContent?.match(/t\d{13}/g)
        ?.at(-1) ?? "",
  );
  const content = `${seconds} seconds please`;
  await bench.request("POST", `/api/contexts/${bench.contexts[title] ?? ""}/messages`, {
    payload: { type: "text", content },
  });
  await page.waitForFunction(
    (old) =>
      (document
        .querySelector(".transcript")
        ?.textContent?.match(/t\d{13}/g)
        ?.at(-1) ?? "") !== old,
    before,
  );
}

export async function waitUntilIdle(page: Page): Promise<void> {
  await page.locator('.state-line[data-state="idle"]').waitFor({ timeout: 60_000 });
}

export async function streaming(
  bench: Bench,
  times: number,
  idle: Measurements,
  text: Measurements,
): Promise<readonly Figure[]> {
  const page = await bench.open();
  await openTab(page, LONG_TITLE, "");
  await throttle(page, times);
  await streamAnswer(bench, page, LONG_TITLE, 10);
  await startMeasuring(page);
  await page.waitForTimeout(8_000);
  const result = await measurements(page);
  await throttle(page, 1);
  await waitUntilIdle(page);
  await bench.close(page);
  const tasks = (sum(result.tasks) / result.milliseconds) * 100;
  if (times > 1) {
    return [
      {
        name: `streaming, CPU / ${times}: gap, p95`,
        unit: "ms",
        ours: percentile(result.gaps, 95),
        floor: percentile(idle.gaps, 95),
      },
      { name: `streaming, CPU / ${times}: long tasks`, unit: "%", ours: tasks },
      { name: `streaming, CPU / ${times}: to screen, p95`, unit: "ms", ours: percentile(result.delays, 95) },
    ];
  }
  return [
    {
      name: "streaming: gap between frames, p95",
      unit: "ms",
      ours: percentile(result.gaps, 95),
      floor: percentile(idle.gaps, 95),
    },
    {
      name: "streaming: gap between frames, p99",
      unit: "ms",
      ours: percentile(result.gaps, 99),
      floor: percentile(text.gaps, 99),
    },
    {
      name: "streaming: frames over 50 ms",
      unit: "%",
      ours: percentOver(result.gaps, 50),
      floor: percentOver(text.gaps, 50),
    },
    { name: "streaming: long tasks", unit: "%", ours: tasks, floor: (sum(text.tasks) / text.milliseconds) * 100 },
    { name: "streaming: from model to screen, p50", unit: "ms", ours: percentile(result.delays, 50) },
    { name: "streaming: from model to screen, p95", unit: "ms", ours: percentile(result.delays, 95) },
    { name: "streaming: shift of the layout (CLS)", unit: "", ours: result.shift, floor: text.shift },
  ];
}

/** Reads a little above the end during 10 seconds of an answer. */
export async function drift(bench: Bench): Promise<readonly Figure[]> {
  const page = await bench.open();
  await openTab(page, LONG_TITLE, "");
  await streamAnswer(bench, page, LONG_TITLE, 10);
  await page.getByRole("log").hover();
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(300);
  const ours = await page.evaluate(async () => {
    const list = document.querySelector(".transcript");
    const edge = list?.getBoundingClientRect().top ?? 0;
    const row = [...(list?.querySelectorAll("[data-row]") ?? [])].find(
      (each) => each.getBoundingClientRect().bottom > edge,
    );
    const before = row?.getBoundingClientRect().top ?? 0;
    let worst = 0;
    for (const end = performance.now() + 9_000; performance.now() < end;) {
      await new Promise(requestAnimationFrame);
      worst = Math.max(worst, row?.isConnected === true ? Math.abs(row.getBoundingClientRect().top - before) : 1e6);
    }
    return worst;
  });
  await waitUntilIdle(page);
  await bench.close(page);
  return [{ name: "10 s unpinned: drift of what is read", unit: "px", ours }];
}
