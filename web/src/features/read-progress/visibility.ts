/**
 * Computes the part of an element that is really visible: not clipped by a scrolling ancestor, not covered by a dialog,
 * menu or notice.
 */
import type { RowRange } from "./coverage";

/** Tolerance for a clipped row, because browsers round positions. */
const ROUNDING_PX = 1;
/** Margin around a position that is scrolled into view, so that the previous line is visible, too. */
const MARGIN_PX = 24;
/** Sticky headers cover the content that scrolls below them. */
const STICKY_HEADS = ":scope > [data-covers]";
/** Collapsed content cannot be read. */
const COLLAPSED = "details:not([open]), [hidden]";
/** The distance of the probed points: smaller than any overlay (menu, list, notice, sidebar). */
const PROBE_STEP_PX = { x: 80, y: 16 };

export interface VisibleSpan {
  readonly top: number;
  readonly bottom: number;
}

export function isBehindDialog(element: HTMLElement): boolean {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  return dialog !== undefined && !dialog.contains(element);
}

/** The largest vertical range of the window in which an element is visible. */
export function largestVisibleSpan(element: HTMLElement, covers: readonly VisibleSpan[]): VisibleSpan | null {
  const clip = clipOf(element);
  if (clip === null) return null;
  let largest: VisibleSpan = { top: 0, bottom: 0 };
  let top = clip.top;
  for (const cover of [...covers, { top: clip.bottom, bottom: clip.bottom }]) {
    const bottom = Math.min(cover.top, clip.bottom);
    if (bottom - top > largest.bottom - largest.top) largest = { top, bottom };
    top = Math.max(top, cover.bottom);
  }
  const { bottom } = largest;
  return bottom - largest.top > ROUNDING_PX ? { top: largest.top - ROUNDING_PX, bottom: bottom + ROUNDING_PX } : null;
}

/**
 * The overlays that cover an element, from top to bottom. An overlay narrower than the element counts as full width.
 */
export function coversOf(element: HTMLElement): readonly VisibleSpan[] {
  const clip = clipOf(element);
  if (clip === null) return [];
  const bounds = element.getBoundingClientRect();
  const left = Math.max(0, bounds.left);
  const right = Math.min(window.innerWidth, bounds.right);
  const layers = new Set<Element>();
  for (const y of probePoints(Math.max(clip.top, bounds.top), Math.min(clip.bottom, bounds.bottom), PROBE_STEP_PX.y))
    for (const x of probePoints(left, right, PROBE_STEP_PX.x)) {
      const hit = document.elementFromPoint(x, y);
      if (hit !== null && !element.contains(hit) && !hit.contains(element)) layers.add(layerOf(hit, element));
    }
  return [...layers].map((layer) => layer.getBoundingClientRect()).sort((a, b) => a.top - b.top);
}

/** Positions from just after `from` to just before `to`. */
function probePoints(from: number, to: number, step: number): readonly number[] {
  const [first, last] = [from + ROUNDING_PX, to - ROUNDING_PX];
  if (last < first) return [];
  const count = Math.ceil((last - first) / step);
  return Array.from({ length: count + 1 }, (_, index) => Math.min(last, first + index * step));
}

/** The overlay that contains the element found at a point: the whole menu for one of its entries. */
function layerOf(hit: Element, element: HTMLElement): Element {
  for (let each: Element | null = hit; each !== null && !each.contains(element); each = each.parentElement)
    if (/fixed|absolute|sticky/.test(getComputedStyle(each).position)) return each;
  return hit;
}

/**
 * Whether an element is rendered on the screen at all. A hidden, collapsed, inert or off-screen element, or one without
 * layout, has no visible rows: this must not be mistaken for having no unread rows.
 */
export function isRendered(element: HTMLElement): boolean {
  if (document.visibilityState !== "visible" || matchMedia("print").matches) return false;
  if (isBehindDialog(element) || element.closest("[inert]") !== null) return false;
  const { width, height } = element.getBoundingClientRect();
  if (width <= ROUNDING_PX || height <= ROUNDING_PX || !isVisible(element)) return false;
  return element.querySelector(COLLAPSED) === null && isUncutSideways(element);
}

function isVisible(element: Element): boolean {
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
}

/**
 * Whether an element is not clipped on its left or right, except by an ancestor that the user can scroll horizontally.
 */
function isUncutSideways(element: HTMLElement): boolean {
  let { left, right } = element.getBoundingClientRect();
  const isCut = (start: number, end: number) => left < start - ROUNDING_PX || right > end + ROUNDING_PX;
  for (let each = element.parentElement; each !== null; each = each.parentElement) {
    const { overflowX } = getComputedStyle(each);
    if (overflowX === "visible") continue;
    const start = each.getBoundingClientRect().left + each.clientLeft;
    const end = start + each.clientWidth;
    if (/auto|scroll/.test(overflowX)) [left, right] = [Math.max(left, start), Math.min(right, end)];
    if (left >= right || isCut(start, end)) return false;
  }
  return !isCut(0, window.innerWidth);
}

/** The part of the window that remains after clipping by the ancestors of an element. */
function clipOf(element: HTMLElement): VisibleSpan | null {
  if (!isRendered(element)) return null;
  const view = window.visualViewport;
  let top = Math.max(view?.offsetTop ?? 0, stickyBottom(element));
  let bottom = (view?.offsetTop ?? 0) + (view?.height ?? window.innerHeight);
  for (let each: HTMLElement | null = element; each !== null; each = each.parentElement) {
    if (getComputedStyle(each).overflowY === "visible") continue;
    const start = each.getBoundingClientRect().top + each.clientTop;
    top = Math.max(top, start);
    bottom = Math.min(bottom, start + each.clientHeight);
  }
  return bottom > top ? { top, bottom } : null;
}

/** The visible rows of a box. */
export function visibleRows(box: HTMLElement, covers: readonly VisibleSpan[]): RowRange | null {
  const visible = largestVisibleSpan(box, covers);
  if (visible === null) return null;
  let from = Infinity;
  let to = -Infinity;
  for (const row of box.querySelectorAll<HTMLElement>("[data-index]")) {
    const { top, bottom, height } = row.getBoundingClientRect();
    if (bottom <= visible.top || top >= visible.bottom || height === 0 || !isVisible(row)) continue;
    const index = Number(row.dataset.index);
    from = Math.min(from, index + Math.max(0, (visible.top - top) / height));
    to = Math.max(to, index + Math.min(1, (visible.bottom - top) / height));
  }
  return from < to ? { from, to } : null;
}

const rowOf = (box: HTMLElement, row: number) => box.querySelector(`[data-index="${Math.floor(row)}"]`);

/** Whether a row of a box is rendered. */
export function hasRow(box: HTMLElement, row: number): boolean {
  return rowOf(box, row) !== null;
}

/** The screen position of a position among the rows of a box. */
export function rowY(box: HTMLElement, row: number): number {
  const { top, height } = (rowOf(box, row) ?? box).getBoundingClientRect();
  return top + height * (row % 1);
}

/** The nearest scrolling ancestor. */
export function scrollParentOf(element: HTMLElement | null): HTMLElement | null {
  return element === null ? null : (scrollParentsOf(element.parentElement)[0] ?? null);
}

function scrollParentsOf(element: HTMLElement | null): readonly HTMLElement[] {
  const scrollers = [];
  for (let each = element; each !== null; each = each.parentElement)
    if (/auto|scroll/.test(getComputedStyle(each).overflowY)) scrollers.push(each);
  return scrollers;
}

/**
 * Scrolls all scrolling ancestors so that a position in the element becomes visible. `yOf` returns its current screen
 * position.
 */
export function scrollIntoSpan(element: HTMLElement, yOf: () => number): void {
  const scrollers = scrollParentsOf(element);
  for (const each of scrollers) each.scrollTop += yOf() - each.getBoundingClientRect().top - each.clientTop - MARGIN_PX;
  const around = scrollers.find((each) => each !== element);
  if (around !== undefined) around.scrollTop -= Math.max(0, stickyBottom(element) + MARGIN_PX - yOf());
}

/** The bottom of the sticky headers that cover an element. */
function stickyBottom(element: HTMLElement): number {
  let bottom = -Infinity;
  for (let each = element.parentElement; each !== null; each = each.parentElement)
    bottom = Math.max(bottom, each.querySelector(STICKY_HEADS)?.getBoundingClientRect().bottom ?? bottom);
  return bottom;
}
