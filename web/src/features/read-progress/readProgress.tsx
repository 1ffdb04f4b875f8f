/**
 * Tracks whether a text was completely on the screen: every row, for a moment, at some time. A jump to the end leaves a
 * gap.
 */
import { type ReactNode, type RefObject, createContext, useContext, useEffect, useRef, useState } from "react";
import { createAtom, useAtom } from "../../app/atom";
import { Coverage, type RowRange, linesInGaps, intersection } from "./coverage";
import {
  type VisibleSpan,
  coversOf,
  hasRow,
  isBehindDialog,
  isRendered,
  scrollIntoSpan,
  rowY,
  visibleRows,
  largestVisibleSpan,
} from "./visibility";
import { ContentOffsets } from "./contentOffsets";

/**
 * The sampling interval. A row counts if it is visible in two consecutive samples: text that scrolls past is not read.
 */
const SAMPLE_INTERVAL_MS = 100;
/** The interval while nothing moves: the card may still grow or come out from behind a dialog. */
const IDLE_SAMPLE_INTERVAL_MS = 500;

/** The time in which a virtualized row is rendered after scrolling to it. */
const ROW_RENDER_MS = 50;

/** A box of rows, which may have its own scroll bar. */
interface RowBox {
  readonly element: HTMLElement;
  readonly rows: number;
  /** The line number of a row. */
  lineOf(row: number): number;
  /** Renders a row that is virtualized away. */
  renderRow?(row: number): void;
}

/** The unread part of a text. */
interface UnreadPart {
  /** The number of unread lines in its boxes. */
  readonly lines: number;
  /** The direction of the first unread content outside of the boxes, if that is out of sight. */
  readonly side: "above" | "below" | null;
}

/** Digests of the texts that were completely on the screen in this tab: calls and settings of folders. */
export const readDigests = createAtom<ReadonlySet<string>>(new Set());
const unreadParts = createAtom<ReadonlyMap<string, UnreadPart>>(new Map());

export function useReadDigests(): ReadonlySet<string> {
  return useAtom(readDigests);
}

/** The unread part of several texts: all lines, and the direction of the first. */
export function useUnreadPart(digests: readonly string[]): UnreadPart {
  const partsByDigest = useAtom(unreadParts);
  const parts = digests.flatMap((digest) => partsByDigest.get(digest) ?? []);
  return { lines: parts.reduce((sum, { lines }) => sum + lines, 0), side: parts[0]?.side ?? null };
}

/** Tracks one text: its boxes, and the content around them. */
class TrackedText {
  readonly #boxes = new Map<RowBox, { coverage: Coverage; last: RowRange | null }>();
  #content = { coverage: new Coverage(), last: null as RowRange | null, length: 0 };
  #isStill = true;
  /** Whether the text was rendered at the last sample. */
  #isRendered = false;

  constructor(
    readonly digest: string,
    readonly root: HTMLElement,
  ) {}

  addBox(box: RowBox): () => void {
    this.#boxes.set(box, { coverage: new Coverage(), last: null });
    return () => this.#boxes.delete(box);
  }

  /** Records the visible part. Returns whether it is the same as in the last sample. */
  sample(): boolean {
    this.#isStill = true;
    this.#isRendered = isRendered(this.root);
    if (!this.#isRendered) return this.#sampleNothing();
    const content = this.#measureContent();
    // The layout has changed, so the recorded offsets are invalid.
    if (Math.abs(content.length - this.#content.length) > 1)
      this.#content = { coverage: new Coverage(), last: null, length: content.length };
    const covers = coversOf(this.root);
    this.#addSample(this.#content, visibleContent(this.root, content, covers));
    for (const [box, record] of this.#boxes) this.#addSample(record, visibleRows(box.element, covers));
    return this.#isStill;
  }

  /** Records that nothing is visible. The height is zero then and says nothing about the length of the text. */
  #sampleNothing(): boolean {
    for (const record of [this.#content, ...this.#boxes.values()]) this.#addSample(record, null);
    return this.#isStill;
  }

  #addSample(record: { coverage: Coverage; last: RowRange | null }, visible: RowRange | null): void {
    const both = intersection(record.last, visible);
    if (both !== null) record.coverage.add(both);
    if (record.last?.from !== visible?.from || record.last?.to !== visible?.to) this.#isStill = false;
    record.last = visible;
  }

  /** A text that is not rendered or is still empty has no gaps, but counts as unread. */
  get isRead(): boolean {
    const hasContent = this.#content.length > 0 || [...this.#boxes.keys()].some(({ rows }) => rows > 0);
    return this.#isRendered && hasContent && this.#firstGap() === null;
  }

  get unreadPart(): UnreadPart {
    const lines = [...this.#boxes].reduce(
      (sum, [box, { coverage }]) => sum + linesInGaps(coverage.gaps(box.rows), (row) => box.lineOf(row)),
      0,
    );
    const { coverage: content, last, length } = this.#content;
    const [gap] = content.gaps(length);
    if (gap === undefined || last === null) return { lines, side: null };
    return { lines, side: gap.from >= last.to ? "below" : gap.from < last.from ? "above" : null };
  }

  #firstGap(): { box: RowBox | null; position: number } | null {
    for (const [box, { coverage }] of this.#boxes) {
      const [gap] = coverage.gaps(box.rows);
      if (gap !== undefined) return { box, position: gap.from };
    }
    const [gap] = this.#content.coverage.gaps(this.#content.length);
    return gap === undefined ? null : { box: null, position: gap.from };
  }

  #measureContent(): ContentOffsets {
    return new ContentOffsets(
      this.root.getBoundingClientRect(),
      [...this.#boxes.keys()].map(({ element }) => element.getBoundingClientRect()),
    );
  }

  /** Scrolls to the first unread position, and focuses its box. */
  reveal(): void {
    const gap = this.#firstGap();
    if (gap === null) return;
    const { box, position } = gap;
    const element = box?.element ?? this.root;
    element.closest<HTMLElement>("[tabindex='0']")?.focus({ preventScroll: true });
    const isRendered = box === null || hasRow(element, position);
    if (!isRendered) box.renderRow?.(Math.floor(position));
    scrollIntoSpan(element, () => (box === null ? this.#measureContent().screenY(position) : rowY(element, position)));
    if (!isRendered)
      setTimeout(
        () => hasRow(element, position) && scrollIntoSpan(element, () => rowY(element, position)),
        ROW_RENDER_MS,
      );
    schedule(SAMPLE_INTERVAL_MS);
  }
}

/** The visible range of the content around the boxes; empty if only rows of a box are visible. */
function visibleContent(
  element: HTMLElement,
  content: ContentOffsets,
  covers: readonly VisibleSpan[],
): RowRange | null {
  const visible = largestVisibleSpan(element, covers);
  return visible === null ? null : { from: content.offsetAt(visible.top), to: content.offsetAt(visible.bottom) };
}

const trackedTexts = new Set<TrackedText>();
let timer: ReturnType<typeof setTimeout> | null = null;
let isIdle = true;

function schedule(delay: number): void {
  if (timer !== null && (delay === IDLE_SAMPLE_INTERVAL_MS || !isIdle)) return;
  if (timer !== null) clearTimeout(timer);
  isIdle = delay === IDLE_SAMPLE_INTERVAL_MS;
  timer = setTimeout(sampleAll, delay);
}

const onMove = () => schedule(SAMPLE_INTERVAL_MS);

function sampleAll(): void {
  timer = null;
  let isStill = true;
  for (const tracked of trackedTexts) {
    isStill = tracked.sample() && isStill;
    if (isBehindDialog(tracked.root)) continue; // the dialog may show the same text and tracks it
    const digests = readDigests.getSnapshot();
    const isRead = digests.has(tracked.digest) || tracked.isRead;
    if (isRead) {
      trackedTexts.delete(tracked);
      if (!digests.has(tracked.digest)) readDigests.set(new Set([...digests, tracked.digest]));
    }
    setUnreadPart(tracked.digest, isRead ? null : tracked.unreadPart);
  }
  if (trackedTexts.size > 0) schedule(isStill ? IDLE_SAMPLE_INTERVAL_MS : SAMPLE_INTERVAL_MS);
}

function setUnreadPart(digest: string, part: UnreadPart | null): void {
  const parts = unreadParts.getSnapshot();
  const old = parts.get(digest);
  if (old?.lines === part?.lines && old?.side === part?.side) return;
  const others = [...parts].filter(([each]) => each !== digest);
  unreadParts.set(new Map(part === null ? others : [...others, [digest, part]]));
}

/** Forgets the digest of a text that no longer exists. A later text has a new digest. */
export function forgetDigest(digest: string): void {
  const digests = readDigests.getSnapshot();
  if (digests.has(digest)) readDigests.set(new Set([...digests].filter((each) => each !== digest)));
}

function track(tracked: TrackedText): () => void {
  if (trackedTexts.size === 0) {
    document.addEventListener("scroll", onMove, { capture: true, passive: true });
    window.addEventListener("resize", onMove);
    document.addEventListener("visibilitychange", onMove);
  }
  trackedTexts.add(tracked);
  schedule(SAMPLE_INTERVAL_MS);
  return () => {
    trackedTexts.delete(tracked);
    setUnreadPart(tracked.digest, null);
    if (trackedTexts.size > 0) return;
    document.removeEventListener("scroll", onMove, { capture: true });
    window.removeEventListener("resize", onMove);
    document.removeEventListener("visibilitychange", onMove);
  };
}

const TrackedTextContext = createContext<TrackedText | null>(null);

/** Records the digest as read once all content inside was on the screen. */
export function ReadTracker({
  digest,
  extraClass = "",
  children,
}: {
  digest: string;
  extraClass?: string;
  children: ReactNode;
}) {
  const root = useRef<HTMLDivElement>(null);
  const [tracked, setTracked] = useState<TrackedText | null>(null);
  useEffect(() => {
    if (root.current === null) return;
    const next = new TrackedText(digest, root.current);
    setTracked(next);
  }, [digest]);
  // After the effects of the children have registered their boxes: a text without its boxes would count as read.
  useEffect(() => (tracked === null ? undefined : track(tracked)), [tracked]);
  return (
    <div className={`read-tracker ${extraClass}`} ref={root}>
      <MustBeReadContext value={true}>
        <TrackedTextContext value={tracked}>{children}</TrackedTextContext>
      </MustBeReadContext>
    </div>
  );
}

const MustBeReadContext = createContext(false);

/** Whether the content is inside a `ReadTracker`, so that all of it must be read. */
export function useMustBeRead(): boolean {
  return useContext(MustBeReadContext);
}

/** Registers a box whose rows must all be read. Its rows are the elements with `data-index`. */
export function useReadBox(
  element: RefObject<HTMLElement | null>,
  rows: number,
  lineOf: (row: number) => number,
  renderRow?: (row: number) => void,
): void {
  const tracked = useContext(TrackedTextContext);
  const latest = useRef({ lineOf, renderRow });
  latest.current = { lineOf, renderRow };
  useEffect(() => {
    if (tracked === null || element.current === null) return;
    return tracked.addBox({
      element: element.current,
      rows,
      lineOf: (row) => latest.current.lineOf(row),
      renderRow: (row) => latest.current.renderRow?.(row),
    });
  }, [tracked, element, rows]);
}

/** Scrolls to the first unread position of the given texts. */
export function revealUnread(digests: readonly string[]): void {
  const candidates = [...trackedTexts].filter((each) => digests.includes(each.digest) && !isBehindDialog(each.root));
  const order = (tracked: TrackedText) => digests.indexOf(tracked.digest);
  candidates.sort((a, b) => order(a) - order(b))[0]?.reveal();
}
