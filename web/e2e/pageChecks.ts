/** Checks of a whole page: accessibility, untranslated words, horizontal overflow. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Expects no serious accessibility violation. The page must have been opened with `bypassesPolicy`. */
export async function isAccessible(page: Page, screenName: string): Promise<void> {
  await page.evaluate(AXE);
  const results = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ["violations"] })`);
  const serious = results.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const faults = serious.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`),
  );
  expect(faults, screenName).toEqual([]);
}

/** Paths, identifiers, argument names and escape sequences: the same in every language. */
const NAMES = /\/[\w./-]+|\w+_\w+|"\w+":|\\\w/g;

/** Texts with Latin words that users see or hear: contents, labels, tooltips. Code is excluded. */
export async function latinWords(page: Page, allowed: readonly string[]): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const results: string[] = [];
    const isExcluded = (element: Element | null) => element?.closest("code, pre, kbd") != null;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (isExcluded(node.parentElement) || node.parentElement?.checkVisibility() !== true) continue;
      results.push(node.nodeValue ?? "");
    }
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
      if (isExcluded(element)) continue;
      for (const name of ["aria-label", "title", "placeholder"]) results.push(element.getAttribute(name) ?? "");
    }
    return results;
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

/** Expects that no element is wider than the screen. */
export async function fitsSideways(page: Page, screenName: string): Promise<void> {
  const results = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    // Content of a scrolling or clipping ancestor does not widen the page, unless it is positioned outside of that.
    const isScrolled = (element: Element): boolean => {
      let position = getComputedStyle(element).position;
      for (let ancestor = element.parentElement; ancestor !== null; ancestor = ancestor.parentElement) {
        const style = getComputedStyle(ancestor);
        const isContainingBlock = position !== "fixed" && (position !== "absolute" || style.position !== "static");
        if (isContainingBlock && style.overflowX !== "visible") return true;
        if (isContainingBlock) position = style.position;
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
  expect(results, screenName).toEqual({ over: 0, wide: [] });
}
