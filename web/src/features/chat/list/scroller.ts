/**
 * Where a list is scrolled to. This is the only one that writes `scrollTop`.
 *
 * A list is *pinned* to its end, or it holds the rows in place that are seen: their ids, and how far below the upper
 * edge each was when the person last moved the list. Whatever changes then, rows that come, go, grow or are measured
 * late, `hold` puts the first of them that is still there back where it was.
 */
import type { Heights } from "./heights";
import { gestures } from "./gestures";

/** Who is this near to the end follows it, unless they went up. */
export const NEAR_END = 80;
/** How far beyond the edges rows are drawn. */
const MARGIN = 800;
/** With these a person begins to move the list. */
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];
/** Longer than browsers animate a scroll by one key. Writing `scrollTop` does not end the animation in Chromium. */
const SETTLE_MILLISECONDS = 500;

/** A row, and how far below the upper edge it is. One that begins above has a part that begins nearer to the edge. */
export interface Seen {
  readonly id: string;
  readonly offset: number;
  readonly part?: { readonly element: Element; readonly offset: number } | undefined;
}

export class Scroller<T extends { readonly id: string }> {
  isPinned = true;
  private seen: readonly Seen[] = [];
  private element: HTMLElement | null = null;
  private readonly rows = new Map<string, HTMLElement>();
  private readonly ids = new WeakMap<Element, string>();
  private resizes: ResizeObserver | null = null;
  /** Where we last saw or put it: elsewhere means that the person moved it. */
  private expected = 0;
  /** Something else may be seen than what is held. */
  private isStale = false;
  /** The list was sent to a place: until then, or until the person acts, a smooth scroll begun before does not count. */
  private settlesUntil = 0;
  /** How much stands before the rows. */
  lead = 0;
  /** What is to be drawn may be something else now. */
  onMove: () => void = () => {};

  constructor(private readonly heights: Heights<T>) {}

  attach(element: HTMLElement): () => void {
    this.element = element;
    this.expected = element.scrollTop;
    const resizes = new ResizeObserver((entries) => {
      for (const { target } of entries) this.measure(target);
      this.hold();
      this.onMove();
    });
    this.resizes = resizes;
    resizes.observe(element);
    for (const row of this.rows.values()) resizes.observe(row);
    const scrolled = () => this.scrolled(element);
    const settled = () => (this.settlesUntil = 0);
    element.addEventListener("scroll", scrolled, { passive: true });
    for (const act of ACTS) window.addEventListener(act, settled, { passive: true, capture: true });
    const forget = gestures(element, {
      up: () => element.scrollTop > 0 && this.unpin(),
      open: () => this.unpin(),
      down: () => this.left <= NEAR_END && this.toEnd(),
      start: () => this.show(this.heights.rowAt(0)?.id ?? "", this.lead),
      end: () => this.toEnd(),
    });
    return () => {
      forget();
      resizes.disconnect();
      element.removeEventListener("scroll", scrolled);
      for (const act of ACTS) window.removeEventListener(act, settled, { capture: true });
      this.element = null;
      this.resizes = null;
    };
  }

  /** A row was drawn. Gives what is done when it is drawn no longer. */
  drawn(id: string, row: HTMLElement): () => void {
    this.rows.set(id, row);
    this.ids.set(row, id);
    this.resizes?.observe(row);
    return () => {
      if (this.rows.get(id) === row) this.rows.delete(id);
      this.resizes?.unobserve(row);
    };
  }

  private measure(row: Element): void {
    const id = this.ids.get(row);
    if (id !== undefined) this.heights.measured(id, row.getBoundingClientRect().height);
  }

  /** The first row to be drawn, and the first one after them that is not. */
  range(): readonly [number, number] {
    const height = this.element?.clientHeight ?? window.innerHeight;
    const top = this.top(height);
    return [
      this.heights.indexAt(top - MARGIN),
      Math.min(this.heights.count, this.heights.indexAt(top + height + MARGIN) + 1),
    ];
  }

  /** The row at the upper edge. */
  get first(): number {
    const held = this.isPinned ? undefined : this.held();
    return (held && this.heights.indexOf(held.id)) ?? this.heights.indexAt(this.top());
  }

  /** Where the upper edge is among the rows. */
  top(height = this.element?.clientHeight ?? window.innerHeight): number {
    if (this.isPinned) return this.heights.total - height;
    const held = this.held();
    if (held === undefined) return this.expected - this.lead;
    return this.heights.top(this.heights.indexOf(held.id) ?? 0) - held.offset;
  }

  private held(): Seen | undefined {
    return this.seen.find(({ id }) => this.heights.indexOf(id) !== undefined);
  }

  /** What is drawn has changed: rows are measured and put where they belong, before anybody sees them. */
  drawnAnew(): void {
    if (this.heights.count > 0 && this.seen.length > 0 && this.held() === undefined) this.isPinned = true; // all others
    for (const row of this.rows.values()) this.measure(row);
    this.hold();
  }

  private hold(): void {
    const { element } = this;
    if (element === null) return;
    if (this.isPinned) element.scrollTop = element.scrollHeight;
    else {
      const moved = this.moved(element); // by the person, and what is drawn has changed already
      if (moved !== 0) this.seen = this.seen.map((each) => shifted(each, -moved));
      this.isStale ||= moved !== 0;
      const away = this.away(element);
      if (Math.abs(away) > 0.25) element.scrollTop += away;
    }
    this.expected = element.scrollTop;
    if (this.seen.length === 0) this.look();
  }

  /** How far what is held has moved. */
  private away(element: HTMLElement): number {
    const held = this.held();
    const row = held === undefined ? undefined : this.rows.get(held.id);
    if (held === undefined || row === undefined) return 0;
    const part = held.part?.element.isConnected === true ? held.part : { element: row, offset: held.offset };
    return offsetOf(part.element, element) - part.offset;
  }

  /** The list is elsewhere: because of what the person does, if it is not because of us. */
  private scrolled(element: HTMLElement): void {
    if (this.isSettling) return this.hold();
    const moved = this.moved(element);
    if (moved === 0 && !this.isStale) return;
    if (moved < 0) this.isPinned = false;
    else if (moved > 0 && this.left <= NEAR_END) this.isPinned = true;
    this.look();
    this.onMove();
  }

  private get isSettling(): boolean {
    return performance.now() < this.settlesUntil;
  }

  /** How far the person has moved it. A list that was cut short moves by itself. */
  private moved(element: HTMLElement): number {
    if (this.isSettling) return 0;
    const moved = element.scrollTop - this.expected;
    const isCut = moved < 0 && this.left <= 0.5;
    return Math.abs(moved) <= 0.5 || isCut ? 0 : moved;
  }

  /** Remembers what is seen, and where. */
  private look(): void {
    const { element } = this;
    if (element === null) return;
    const found: Seen[] = [];
    for (const [id, row] of this.rows) {
      const offset = offsetOf(row, element);
      const isSeen = offset + row.offsetHeight > 0 && offset < element.clientHeight;
      if (isSeen) found.push({ id, offset, part: offset < 0 ? partOf(row, element) : undefined });
    }
    this.expected = element.scrollTop;
    this.isStale = false;
    found.sort((one, other) => one.offset - other.offset);
    this.seen = found.length > 0 ? found : this.guessed(element.scrollTop - this.lead);
  }

  /** Somebody went so far at once that nothing is drawn there yet. */
  private guessed(top: number): readonly Seen[] {
    const index = this.heights.indexAt(top);
    const row = this.heights.rowAt(index);
    return row === undefined ? [] : [{ id: row.id, offset: this.heights.top(index) - top }];
  }

  private unpin(): void {
    if (!this.isPinned) return;
    this.look();
    this.isPinned = false;
    this.onMove();
  }

  /** How much there is below what is seen. */
  get left(): number {
    const { element } = this;
    return element === null ? 0 : element.scrollHeight - element.clientHeight - element.scrollTop;
  }

  toEnd(): void {
    this.isPinned = true;
    this.settlesUntil = performance.now() + SETTLE_MILLISECONDS;
    this.onMove();
    this.hold();
  }

  /** Puts a row to the upper edge, or a little below it. */
  show(id: string, offset: number): void {
    this.isPinned = false;
    this.settlesUntil = performance.now() + SETTLE_MILLISECONDS;
    this.seen = [{ id, offset }];
    this.onMove();
    this.hold();
  }
}

function offsetOf(part: Element, element: Element): number {
  return part.getBoundingClientRect().top - element.getBoundingClientRect().top;
}

function shifted({ id, offset, part }: Seen, by: number): Seen {
  return { id, offset: offset + by, part: part && { ...part, offset: part.offset + by } };
}

/** The paragraph at the upper edge: a narrower window makes what is above it longer. */
function partOf(row: Element, element: Element): Seen["part"] {
  for (const part of row.querySelectorAll(".md > *")) {
    const offset = offsetOf(part, element);
    if (offset + part.clientHeight > 0) return { element: part, offset };
  }
  return undefined;
}
