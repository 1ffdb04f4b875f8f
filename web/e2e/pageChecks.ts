/** Checks of a whole page: accessibility, untranslated words, horizontal overflow. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Expects no serious accessibility violation. The page must have been opened with `bypassesPolicy`. */
export async function isAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ["violations"] })`);
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const faults = serious.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`),
  );
  expect(faults, what).toEqual([]);
}

/** Paths, identifiers, argument names and escape sequences: the same in every language. */
const NAMES = /\/[\w./-]+|\w+_\w+|"\w+":|\\\w/g;

/** Texts with Latin words that users see or hear: contents, labels, tooltips. Code is excluded. */
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

/** Expects that no element is wider than the screen. */
export async function fitsSideways(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    // Content of a scrolling or clipping ancestor does not widen the page, unless it is positioned outside of that.
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
