/** Baselines of the browser itself, measured in the same run: an empty page, a plain list, growing plain text. */
import type { Bench } from "./main";
import { type Measurements, measurements, throttle, startMeasuring } from "./probe";

const MESSAGE_COUNT = 10_000;

async function openBlankPage(bench: Bench) {
  const context = await bench.browser.newContext({ viewport: { width: 1280, height: 800 } });
  return context.newPage();
}

export async function idleFrames(bench: Bench, times: number): Promise<Measurements> {
  const page = await openBlankPage(bench);
  await throttle(page, times);
  await startMeasuring(page);
  await page.waitForTimeout(1_500);
  const result = await measurements(page);
  await bench.close(page);
  return result;
}

/** Text that grows by 200 tokens a second in one element that is kept scrolled to its end. */
export async function plainText(bench: Bench): Promise<Measurements> {
  const page = await openBlankPage(bench);
  await page.setContent('<div id="list" style="height: 700px; overflow: auto; white-space: pre-wrap"></div>');
  await startMeasuring(page);
  await page.evaluate(async () => {
    const list = document.getElementById("list");
    for (let delta = 0; delta < 600 && list !== null; delta++) {
      list.append(delta % 12 === 0 ? "word\n" : "word");
      if (delta % 3 === 0) list.scrollTop = list.scrollHeight;
      await new Promise((done) => setTimeout(done, 5));
    }
  });
  const result = await measurements(page);
  await bench.close(page);
  return result;
}

/** The time until a list of plain elements is painted, and the number of its elements. */
export async function plainList(bench: Bench): Promise<{ readonly milliseconds: number; readonly elements: number }> {
  const page = await openBlankPage(bench);
  await page.setContent('<div id="list" style="height: 700px; overflow: auto"></div>');
  const result = await page.evaluate(async (count) => {
    const startedAt = performance.now();
    const list = document.getElementById("list");
    for (let number = 0; number < count; number++) {
      const article = document.createElement("article");
      for (const text of [
        `${number} what of the log?`,
        "The log says north by east, and the chart agrees with it.",
        "And so on.",
      ]) {
        article.appendChild(document.createElement("p")).textContent = text;
      }
      list?.append(article);
    }
    if (list !== null) list.scrollTop = list.scrollHeight;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return { milliseconds: performance.now() - startedAt, elements: document.getElementsByTagName("*").length };
  }, MESSAGE_COUNT);
  await bench.close(page);
  return result;
}
