/**
 * The scroll position of a list. No other code writes `scrollTop`.
 *
 * The list is either *pinned* to its end, or anchored: it keeps the visible rows where they were when the user last
 * scrolled. Whatever changes then (rows that come, go, grow or are measured late), `restore` puts the first remaining
 * anchor back in its place.
 */
import type { RowHeights } from "./rowHeights";
import { listenForScrollGestures } from "./scrollGestures";

/** Scrolling down to within this distance of the end pins the list. */
const NEAR_END_PX = 80;
/** Rows are rendered up to this distance outside of the viewport. */
const OVERSCAN_PX = 800;
/** Events with which the user takes over the scroll position. */
const INPUT_EVENTS = ["wheel", "touchstart", "pointerdown", "keydown"];
/** Longer than a browser's smooth scroll for one key. In Chromium, writing `scrollTop` does not end that animation. */
const SETTLE_MS = 500;

/**
 * A visible row and its distance from the upper edge. For a row that begins above the edge, `part` is the first visible
 * part.
 */
interface Anchor {
  readonly id: string;
  readonly offset: number;
  readonly part?: { readonly element: Element; readonly offset: number } | undefined;
}

export class Scroller<T extends { readonly id: string }> {
  isPinned = true;
  private anchors: readonly Anchor[] = [];
  private element: HTMLElement | null = null;
  private readonly rows = new Map<string, HTMLElement>();
  private readonly ids = new WeakMap<Element, string>();
  private resizes: ResizeObserver | null = null;
  /** The last scroll position that was read or written; another position means that the user has scrolled. */
  private lastScrollTop = 0;
  /** Whether the anchors may no longer be the visible rows. */
  private areAnchorsStale = false;
  /**
   * After a programmatic scroll: until this time, or until the user acts, scroll events of an earlier smooth scroll are
   * ignored.
   */
  private settlesUntil = 0;
  /** The height of the content above the rows. */
  leadHeight = 0;
  /** Called when the rendered range may have changed. */
  onMove: () => void = () => {};

  constructor(private readonly heights: RowHeights<T>) {}

  attach(element: HTMLElement): () => void {
    this.element = element;
    this.lastScrollTop = element.scrollTop;
    const resizes = new ResizeObserver((entries) => {
      for (const { target } of entries) this.measureRow(target);
      this.restore();
      this.onMove();
    });
    this.resizes = resizes;
    resizes.observe(element);
    for (const row of this.rows.values()) resizes.observe(row);
    const onScroll = () => this.onScroll(element);
    const endSettling = () => (this.settlesUntil = 0);
    element.addEventListener("scroll", onScroll, { passive: true });
    for (const act of INPUT_EVENTS) window.addEventListener(act, endSettling, { passive: true, capture: true });
    const removeGestureListeners = listenForScrollGestures(element, {
      up: () => element.scrollTop > 0 && this.unpin(),
      open: () => this.unpin(),
      down: () => this.distanceToEnd <= NEAR_END_PX && this.scrollToEnd(),
      start: () => this.scrollTo(this.heights.rowAt(0)?.id ?? "", this.leadHeight),
      end: () => this.scrollToEnd(),
    });
    return () => {
      removeGestureListeners();
      resizes.disconnect();
      element.removeEventListener("scroll", onScroll);
      for (const act of INPUT_EVENTS) window.removeEventListener(act, endSettling, { capture: true });
      this.element = null;
      this.resizes = null;
    };
  }

  /** Registers a mounted row. Returns a function to call when it is unmounted. */
  attachRow(id: string, row: HTMLElement): () => void {
    this.rows.set(id, row);
    this.ids.set(row, id);
    this.resizes?.observe(row);
    return () => {
      if (this.rows.get(id) === row) this.rows.delete(id);
      this.resizes?.unobserve(row);
    };
  }

  private measureRow(row: Element): void {
    const id = this.ids.get(row);
    if (id !== undefined) this.heights.setMeasured(id, row.getBoundingClientRect().height);
  }

  /** The range of rows to render: [from, to). */
  range(): readonly [number, number] {
    const height = this.element?.clientHeight ?? window.innerHeight;
    const top = this.top(height);
    return [
      this.heights.indexAt(top - OVERSCAN_PX),
      Math.min(this.heights.count, this.heights.indexAt(top + height + OVERSCAN_PX) + 1),
    ];
  }

  /** The index of the row at the upper edge. */
  get first(): number {
    const anchor = this.isPinned ? undefined : this.anchor();
    return (anchor && this.heights.indexOf(anchor.id)) ?? this.heights.indexAt(this.top());
  }

  /** The offset of the upper edge from the first row. */
  top(height = this.element?.clientHeight ?? window.innerHeight): number {
    if (this.isPinned) return this.heights.total - height;
    const anchor = this.anchor();
    if (anchor === undefined) return this.lastScrollTop - this.leadHeight;
    return this.heights.top(this.heights.indexOf(anchor.id) ?? 0) - anchor.offset;
  }

  private anchor(): Anchor | undefined {
    return this.anchors.find(({ id }) => this.heights.indexOf(id) !== undefined);
  }

  /** Called after each render: measures the rows and restores their places before the browser paints. */
  afterRender(): void {
    // No anchor is left: follow the end.
    if (this.heights.count > 0 && this.anchors.length > 0 && this.anchor() === undefined) this.isPinned = true;
    for (const row of this.rows.values()) this.measureRow(row);
    this.restore();
  }

  private restore(): void {
    const { element } = this;
    if (element === null) return;
    if (this.isPinned) element.scrollTop = element.scrollHeight;
    else {
      const movedByUser = this.movedByUser(element); // the user may scroll before the render
      if (movedByUser !== 0) this.anchors = this.anchors.map((each) => shifted(each, -movedByUser));
      this.areAnchorsStale ||= movedByUser !== 0;
      const drift = this.drift(element);
      if (Math.abs(drift) > 0.25) element.scrollTop += drift;
    }
    this.lastScrollTop = element.scrollTop;
    if (this.anchors.length === 0) this.recordAnchors();
  }

  /** The distance by which the anchor has moved. */
  private drift(element: HTMLElement): number {
    const anchor = this.anchor();
    const row = anchor === undefined ? undefined : this.rows.get(anchor.id);
    if (anchor === undefined || row === undefined) return 0;
    const part = anchor.part?.element.isConnected === true ? anchor.part : { element: row, offset: anchor.offset };
    return offsetOf(part.element, element) - part.offset;
  }

  /** Handles a scroll event: records the user's position, and ignores our own writes. */
  private onScroll(element: HTMLElement): void {
    if (this.isSettling) return this.restore();
    const movedByUser = this.movedByUser(element);
    if (movedByUser === 0 && !this.areAnchorsStale) return;
    if (movedByUser < 0) this.isPinned = false;
    else if (movedByUser > 0 && this.distanceToEnd <= NEAR_END_PX) this.isPinned = true;
    this.recordAnchors();
    this.onMove();
  }

  private get isSettling(): boolean {
    return performance.now() < this.settlesUntil;
  }

  /** The distance scrolled by the user. A list that became shorter moves by itself, which does not count. */
  private movedByUser(element: HTMLElement): number {
    if (this.isSettling) return 0;
    const movedByUser = element.scrollTop - this.lastScrollTop;
    const isCut = movedByUser < 0 && this.distanceToEnd <= 0.5;
    return Math.abs(movedByUser) <= 0.5 || isCut ? 0 : movedByUser;
  }

  /** Records the visible rows and their places. */
  private recordAnchors(): void {
    const { element } = this;
    if (element === null) return;
    const visible: Anchor[] = [];
    for (const [id, row] of this.rows) {
      const offset = offsetOf(row, element);
      const isVisible = offset + row.offsetHeight > 0 && offset < element.clientHeight;
      if (isVisible) visible.push({ id, offset, part: offset < 0 ? partOf(row, element) : undefined });
    }
    this.lastScrollTop = element.scrollTop;
    this.areAnchorsStale = false;
    visible.sort((a, b) => a.offset - b.offset);
    this.anchors = visible.length > 0 ? visible : this.estimatedAnchors(element.scrollTop - this.leadHeight);
  }

  /** The anchor after a jump to a place without rendered rows. */
  private estimatedAnchors(top: number): readonly Anchor[] {
    const index = this.heights.indexAt(top);
    const row = this.heights.rowAt(index);
    return row === undefined ? [] : [{ id: row.id, offset: this.heights.top(index) - top }];
  }

  private unpin(): void {
    if (!this.isPinned) return;
    this.recordAnchors();
    this.isPinned = false;
    this.onMove();
  }

  /** The distance between the viewport and the end of the list. */
  get distanceToEnd(): number {
    const { element } = this;
    return element === null ? 0 : element.scrollHeight - element.clientHeight - element.scrollTop;
  }

  scrollToEnd(): void {
    this.isPinned = true;
    this.settlesUntil = performance.now() + SETTLE_MS;
    this.onMove();
    this.restore();
  }

  /** Scrolls a row to the given distance from the upper edge. */
  scrollTo(id: string, offset: number): void {
    this.isPinned = false;
    this.settlesUntil = performance.now() + SETTLE_MS;
    this.anchors = [{ id, offset }];
    this.onMove();
    this.restore();
  }
}

function offsetOf(part: Element, element: Element): number {
  return part.getBoundingClientRect().top - element.getBoundingClientRect().top;
}

function shifted({ id, offset, part }: Anchor, by: number): Anchor {
  return { id, offset: offset + by, part: part && { ...part, offset: part.offset + by } };
}

/**
 * The paragraph at the upper edge. In a narrower window, the text above it becomes longer, so the row alone is no
 * stable anchor.
 */
function partOf(row: Element, element: Element): Anchor["part"] {
  for (const part of row.querySelectorAll(".md > *")) {
    const offset = offsetOf(part, element);
    if (offset + part.clientHeight > 0) return { element: part, offset };
  }
  return undefined;
}
