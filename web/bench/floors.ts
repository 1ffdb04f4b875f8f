/** Baselines of the browser itself, measured in the same run: an empty page, a plain list, growing plain text. */
import type { Bench } from "./main";
import { type Seen, seen, throttle, watch } from "./probe";

const MESSAGES = 10_000;

async function blank(bench: Bench) {
  const context = await bench.browser.newContext({ viewport: { width: 1280, height: 800 } });
  return context.newPage();
}

export async function idleFrames(bench: Bench, times: number): Promise<Seen> {
  const page = await blank(bench);
  await throttle(page, times);
  await watch(page);
  await page.waitForTimeout(1_500);
  const found = await seen(page);
  await bench.close(page);
  return found;
}

/** Text that grows by 200 tokens a second in one element that is kept scrolled to its end. */
export async function plainText(bench: Bench): Promise<Seen> {
  const page = await blank(bench);
  await page.setContent('<div id="list" style="height: 700px; overflow: auto; white-space: pre-wrap"></div>');
  await watch(page);
  await page.evaluate(async () => {
    const list = document.getElementById("list");
    for (let piece = 0; piece < 600 && list !== null; piece++) {
      list.append(piece % 12 === 0 ? "word\n" : "word");
      if (piece % 3 === 0) list.scrollTop = list.scrollHeight;
      await new Promise((done) => setTimeout(done, 5));
    }
  });
  const found = await seen(page);
  await bench.close(page);
  return found;
}

/** The time until a list of plain elements is painted, and the number of its elements. */
export async function plainList(bench: Bench): Promise<{ readonly milliseconds: number; readonly elements: number }> {
  const page = await blank(bench);
  await page.setContent('<div id="list" style="height: 700px; overflow: auto"></div>');
  const found = await page.evaluate(async (count) => {
    const began = performance.now();
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
    return { milliseconds: performance.now() - began, elements: document.getElementsByTagName("*").length };
  }, MESSAGES);
  await bench.close(page);
  return found;
}
