/** Keys that scroll the text of a card, wherever in the card the focus is. */
import type { KeyboardEvent } from "react";
import { isControl, isField } from "./focusPlace";

/** The overlap of two consecutive pages: at least one row. */
const OVERLAP_PX = 20;
const ARROW_PX = 40;

/** Marks the elements that the keys scroll. */
export const SCROLL_TARGET = { "data-scrolls": "" };

/** Scrolls the text of a card by pages. With the focus on the card itself, also by lines and to the start or end. */
export function scrollByKey(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget: card } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !(target instanceof Element)) return;
  if (isField(target) || (event.key === " " && isControl(target))) return;
  const text = target.closest<HTMLElement>("[data-scrolls]") ?? card.querySelector<HTMLElement>("[data-scrolls]");
  if (text === null) return;
  const step = stepOf(event, text, target === card);
  if (step === null) return;
  event.preventDefault();
  text.scrollTop += step;
}

function stepOf({ key, shiftKey }: KeyboardEvent, text: HTMLElement, isOnCard: boolean): number | null {
  const heads = [...text.querySelectorAll<HTMLElement>("[data-covers]")].map((head) => head.offsetHeight);
  const page = Math.max(ARROW_PX, text.clientHeight - Math.max(0, ...heads) - OVERLAP_PX);
  if (key === " ") return shiftKey ? -page : page;
  if (shiftKey) return null;
  if (key === "PageDown") return page;
  if (key === "PageUp") return -page;
  if (!isOnCard) return null;
  if (key === "ArrowDown") return ARROW_PX;
  if (key === "ArrowUp") return -ARROW_PX;
  if (key === "Home") return -text.scrollHeight;
  return key === "End" ? text.scrollHeight : null;
}
