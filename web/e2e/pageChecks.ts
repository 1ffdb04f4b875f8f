/** Ways to look at a whole page: for what is hard to use, what is not translated, what does not fit. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Nothing on the page is seriously hard to use for somebody. The page must have been opened with `bypassesPolicy`. */
export async function isAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ["violations"] })`);
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const faults = serious.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`),
  );
  expect(faults, what).toEqual([]);
}

/** Paths, ids with a line in them, names of arguments and what follows a backslash: the same in every language. */
const NAMES = /\/[\w./-]+|\w+_\w+|"\w+":|\\\w/g;

/** Words in Latin letters that a person sees or hears: in text, labels, hints. Code is left out. */
export async function latinWords(page: Page, allowed: readonly string[]): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [];
    const isLeftOut = (element: Element | null) => element?.closest("code, pre, kbd") != null;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (isLeftOut(node.parentElement) || node.parentElement?.checkVisibility() !== true) continue;
      found.push(node.nodeValue ?? "");
    }
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
      if (isLeftOut(element)) continue;
      for (const name of ["aria-label", "title", "placeholder"]) found.push(element.getAttribute(name) ?? "");
    }
    return found;
  });
  const isAllowed = (word: string) => allowed.some((each) => each.toLowerCase() === word.toLowerCase());
  return [
    ...new Set(
      texts.filter((text) =>
        (text.replace(NAMES, "").match(/[A-Za-z][A-Za-z']+/g) ?? []).some((word) => !isAllowed(word)),
      ),
    ),
  ];
}

/** Nothing is wider than the screen. */
export async function fitsSideways(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    // What stands in something that scrolls or cuts it does not make the page wider, unless it is placed by the page.
    const isScrolled = (element: Element): boolean => {
      let position = getComputedStyle(element).position;
      for (let above = element.parentElement; above !== null; above = above.parentElement) {
        const style = getComputedStyle(above);
        const isItsPlace = position !== "fixed" && (position !== "absolute" || style.position !== "static");
        if (isItsPlace && style.overflowX !== "visible") return true;
        if (isItsPlace) position = style.position;
      }
      return false;
    };
    const wide = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      return (
        box.width > 0 && box.right > width + 1 && box.left < width && !isScrolled(element) && element.checkVisibility()
      );
    });
    return {
      over: document.documentElement.scrollWidth - width,
      wide: wide.map((element) => element.outerHTML.slice(0, 120)),
    };
  });
  expect(found, what).toEqual({ over: 0, wide: [] });
}
