/**
 * Where a list is scrolled to. This is the only one that writes `scrollTop`.
 *
 * A list is *pinned* to its end, or it holds the rows in place that are seen: their ids, and how far below the upper
 * edge each was when the person last moved the list. Whatever changes then, rows that come, go, grow or are measured
 * late, `hold` puts the first of them that is still there back where it was.
 */
import type { RowHeights } from "./rowHeights";
import { listenForScrollGestures } from "./scrollGestures";

/** Who is this near to the end follows it, unless they went up. */
const NEAR_END_PX = 80;
/** How far beyond the edges rows are drawn. */
const OVERSCAN_PX = 800;
/** With these a person begins to move the list. */
const INPUT_EVENTS = ["wheel", "touchstart", "pointerdown", "keydown"];
/** Longer than browsers animate a scroll by one key. Writing `scrollTop` does not end the animation in Chromium. */
const SETTLE_MS = 500;

/** A row, and how far below the upper edge it is. One that begins above has a part that begins nearer to the edge. */
export interface Anchor {
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
  /** Where we last saw or put it: elsewhere means that the person moved it. */
  private lastScrollTop = 0;
  /** Something else may be seen than what is held. */
  private areAnchorsStale = false;
  /** The list was sent to a place: until then, or until the person acts, a smooth scroll begun before does not count. */
  private settlesUntil = 0;
  /** How much stands before the rows. */
  lead = 0;
  /** What is to be drawn may be something else now. */
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
    const settled = () => (this.settlesUntil = 0);
    element.addEventListener("scroll", onScroll, { passive: true });
    for (const act of INPUT_EVENTS) window.addEventListener(act, settled, { passive: true, capture: true });
    const forget = listenForScrollGestures(element, {
      up: () => element.scrollTop > 0 && this.unpin(),
      open: () => this.unpin(),
      down: () => this.distanceToEnd <= NEAR_END_PX && this.scrollToEnd(),
      start: () => this.scrollTo(this.heights.rowAt(0)?.id ?? "", this.lead),
      end: () => this.scrollToEnd(),
    });
    return () => {
      forget();
      resizes.disconnect();
      element.removeEventListener("scroll", onScroll);
      for (const act of INPUT_EVENTS) window.removeEventListener(act, settled, { capture: true });
      this.element = null;
      this.resizes = null;
    };
  }

  /** A row was drawn. Gives what is done when it is drawn no longer. */
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

  /** The first row to be drawn, and the first one after them that is not. */
  range(): readonly [number, number] {
    const height = this.element?.clientHeight ?? window.innerHeight;
    const top = this.top(height);
    return [
      this.heights.indexAt(top - OVERSCAN_PX),
      Math.min(this.heights.count, this.heights.indexAt(top + height + OVERSCAN_PX) + 1),
    ];
  }

  /** The row at the upper edge. */
  get first(): number {
    const anchor = this.isPinned ? undefined : this.anchor();
    return (anchor && this.heights.indexOf(anchor.id)) ?? this.heights.indexAt(this.top());
  }

  /** Where the upper edge is among the rows. */
  top(height = this.element?.clientHeight ?? window.innerHeight): number {
    if (this.isPinned) return this.heights.total - height;
    const anchor = this.anchor();
    if (anchor === undefined) return this.lastScrollTop - this.lead;
    return this.heights.top(this.heights.indexOf(anchor.id) ?? 0) - anchor.offset;
  }

  private anchor(): Anchor | undefined {
    return this.anchors.find(({ id }) => this.heights.indexOf(id) !== undefined);
  }

  /** What is drawn has changed: rows are measured and put where they belong, before anybody sees them. */
  afterRender(): void {
    if (this.heights.count > 0 && this.anchors.length > 0 && this.anchor() === undefined) this.isPinned = true; // all others
    for (const row of this.rows.values()) this.measureRow(row);
    this.restore();
  }

  private restore(): void {
    const { element } = this;
    if (element === null) return;
    if (this.isPinned) element.scrollTop = element.scrollHeight;
    else {
      const movedByUser = this.movedByUser(element); // by the person, and what is drawn has changed already
      if (movedByUser !== 0) this.anchors = this.anchors.map((each) => shifted(each, -movedByUser));
      this.areAnchorsStale ||= movedByUser !== 0;
      const drift = this.drift(element);
      if (Math.abs(drift) > 0.25) element.scrollTop += drift;
    }
    this.lastScrollTop = element.scrollTop;
    if (this.anchors.length === 0) this.recordAnchors();
  }

  /** How far what is held has moved. */
  private drift(element: HTMLElement): number {
    const anchor = this.anchor();
    const row = anchor === undefined ? undefined : this.rows.get(anchor.id);
    if (anchor === undefined || row === undefined) return 0;
    const part = anchor.part?.element.isConnected === true ? anchor.part : { element: row, offset: anchor.offset };
    return offsetOf(part.element, element) - part.offset;
  }

  /** The list is elsewhere: because of what the person does, if it is not because of us. */
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

  /** How far the person has moved it. A list that was cut short moves by itself. */
  private movedByUser(element: HTMLElement): number {
    if (this.isSettling) return 0;
    const movedByUser = element.scrollTop - this.lastScrollTop;
    const isCut = movedByUser < 0 && this.distanceToEnd <= 0.5;
    return Math.abs(movedByUser) <= 0.5 || isCut ? 0 : movedByUser;
  }

  /** Remembers what is seen, and where. */
  private recordAnchors(): void {
    const { element } = this;
    if (element === null) return;
    const visible: Anchor[] = [];
    for (const [id, row] of this.rows) {
      const offset = offsetOf(row, element);
      const isSeen = offset + row.offsetHeight > 0 && offset < element.clientHeight;
      if (isSeen) visible.push({ id, offset, part: offset < 0 ? partOf(row, element) : undefined });
    }
    this.lastScrollTop = element.scrollTop;
    this.areAnchorsStale = false;
    visible.sort((one, other) => one.offset - other.offset);
    this.anchors = visible.length > 0 ? visible : this.estimatedAnchors(element.scrollTop - this.lead);
  }

  /** Somebody went so far at once that nothing is drawn there yet. */
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

  /** How much there is below what is seen. */
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

  /** Puts a row to the upper edge, or a little below it. */
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

/** The paragraph at the upper edge: a narrower window makes what is above it longer. */
function partOf(row: Element, element: Element): Anchor["part"] {
  for (const part of row.querySelectorAll(".md > *")) {
    const offset = offsetOf(part, element);
    if (offset + part.clientHeight > 0) return { element: part, offset };
  }
  return undefined;
}
