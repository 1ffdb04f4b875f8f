/**
 * Whether a person has had a whole text on the screen: every row of it, for a moment, at some time. A jump to the end
 * leaves a gap.
 */
import { type ReactNode, type RefObject, createContext, useContext, useEffect, useRef, useState } from "react";
import { makeCell, useCell } from "../../app/cell";
import { Coverage, type Stretch, linesInGaps, overlapOf } from "./coverage";
import {
  type Window,
  coversOf,
  hasRow,
  isBehindDialog,
  isDrawn,
  revealAt,
  rowPlace,
  visibleRows,
  windowOf,
} from "./onScreen";
import { Flow } from "./flow";

/** A row counts that is on the screen at two looks after each other: what only flies past is not read. */
const LOOK_MS = 100;
/** Nothing moves: the card may still grow or come out from behind a dialog. */
const IDLE_LOOK_MS = 500;

/** A row that was far out of sight is drawn by then. */
const DRAWN_MS = 50;

/** A box of rows, perhaps with a scroll bar of its own. */
interface Box {
  readonly element: HTMLElement;
  readonly rows: number;
  /** The number of the line that a row belongs to. */
  lineOf(row: number): number;
  /** Draws a row that is not drawn, because it is far out of sight. */
  draw?(row: number): void;
}

/** What of a text has not been on the screen yet. */
export interface UnreadPart {
  /** How many lines of its boxes. */
  readonly lines: number;
  /** Where the first unread place is, if it is out of sight. */
  readonly side: "above" | "below" | null;
}

/** What has been on the screen of this page whole, by digest: calls, and the settings of folders. */
export const readDigests = makeCell<ReadonlySet<string>>(new Set());
const unreadParts = makeCell<ReadonlyMap<string, UnreadPart>>(new Map());

export function useReadDigests(): ReadonlySet<string> {
  return useCell(readDigests);
}

/** What of these has not been on the screen yet: all lines, and the side of the first of them. */
export function useUnreadPart(digests: readonly string[]): UnreadPart {
  const known = useCell(unreadParts);
  const parts = digests.flatMap((digest) => known.get(digest) ?? []);
  return { lines: parts.reduce((sum, { lines }) => sum + lines, 0), side: parts[0]?.side ?? null };
}

/** What has been seen of one text, in each of its boxes and in the flow around them. */
class Reading {
  readonly #boxes = new Map<Box, { coverage: Coverage; last: Stretch | null }>();
  #flow = { coverage: new Coverage(), last: null as Stretch | null, length: 0 };
  #isStill = true;
  /** Whether the text was drawn at the last look. */
  #isDrawn = false;

  constructor(
    readonly digest: string,
    readonly root: HTMLElement,
  ) {}

  open(box: Box): () => void {
    this.#boxes.set(box, { coverage: new Coverage(), last: null });
    return () => this.#boxes.delete(box);
  }

  /** Notes what is on the screen now. Returns whether that is the same as at the last look. */
  look(): boolean {
    this.#isStill = true;
    this.#isDrawn = isDrawn(this.root);
    if (!this.#isDrawn) return this.#lookAway();
    const flow = this.#measureFlow();
    // What was seen of it has moved.
    if (Math.abs(flow.length - this.#flow.length) > 1)
      this.#flow = { coverage: new Coverage(), last: null, length: flow.length };
    const covers = coversOf(this.root);
    this.#note(this.#flow, flowOn(this.root, flow, covers));
    for (const [box, seen] of this.#boxes) this.#note(seen, visibleRows(box.element, covers));
    return this.#isStill;
  }

  /** Nothing is on the screen: it has no height either, which says nothing about how long the text is. */
  #lookAway(): boolean {
    for (const seen of [this.#flow, ...this.#boxes.values()]) this.#note(seen, null);
    return this.#isStill;
  }

  #note(seen: { coverage: Coverage; last: Stretch | null }, now: Stretch | null): void {
    const both = overlapOf(seen.last, now);
    if (both !== null) seen.coverage.add(both);
    if (seen.last?.from !== now?.from || seen.last?.to !== now?.to) this.#isStill = false;
    seen.last = now;
  }

  /** A text that is not drawn, or of which there is nothing yet, has no gaps and is unread all the same. */
  get isRead(): boolean {
    const hasContent = this.#flow.length > 0 || [...this.#boxes.keys()].some(({ rows }) => rows > 0);
    return this.#isDrawn && hasContent && this.#firstGap() === null;
  }

  get unreadPart(): UnreadPart {
    const lines = [...this.#boxes].reduce(
      (sum, [box, { coverage }]) => sum + linesInGaps(coverage.gaps(box.rows), (row) => box.lineOf(row)),
      0,
    );
    const { coverage: flow, last, length } = this.#flow;
    const [gap] = flow.gaps(length);
    if (gap === undefined || last === null) return { lines, side: null };
    return { lines, side: gap.from >= last.to ? "below" : gap.from < last.from ? "above" : null };
  }

  #firstGap(): { box: Box | null; at: number } | null {
    for (const [box, { coverage }] of this.#boxes) {
      const [gap] = coverage.gaps(box.rows);
      if (gap !== undefined) return { box, at: gap.from };
    }
    const [gap] = this.#flow.coverage.gaps(this.#flow.length);
    return gap === undefined ? null : { box: null, at: gap.from };
  }

  #measureFlow(): Flow {
    return new Flow(
      this.root.getBoundingClientRect(),
      [...this.#boxes.keys()].map(({ element }) => element.getBoundingClientRect()),
    );
  }

  /** Scrolls to the first place that was not on the screen, and puts the focus into its box. */
  reveal(): void {
    const gap = this.#firstGap();
    if (gap === null) return;
    const { box, at } = gap;
    const element = box?.element ?? this.root;
    element.closest<HTMLElement>("[tabindex='0']")?.focus({ preventScroll: true });
    const isDrawn = box === null || hasRow(element, at);
    if (!isDrawn) box.draw?.(Math.floor(at));
    revealAt(element, () => (box === null ? this.#measureFlow().placeOf(at) : rowPlace(element, at)));
    if (!isDrawn) setTimeout(() => hasRow(element, at) && revealAt(element, () => rowPlace(element, at)), DRAWN_MS);
    schedule(LOOK_MS);
  }
}

/** How much of the flow of an element is on the screen. It is empty where only rows of a box are. */
function flowOn(element: HTMLElement, flow: Flow, covers: readonly Window[]): Stretch | null {
  const shown = windowOf(element, covers);
  return shown === null ? null : { from: flow.at(shown.top), to: flow.at(shown.bottom) };
}

const watched = new Set<Reading>();
let timer: ReturnType<typeof setTimeout> | null = null;
let isIdle = true;

function schedule(delay: number): void {
  if (timer !== null && (delay === IDLE_LOOK_MS || !isIdle)) return;
  if (timer !== null) clearTimeout(timer);
  isIdle = delay === IDLE_LOOK_MS;
  timer = setTimeout(lookAtAll, delay);
}

const onMove = () => schedule(LOOK_MS);

function lookAtAll(): void {
  timer = null;
  let isStill = true;
  for (const reading of watched) {
    isStill = reading.look() && isStill;
    if (isBehindDialog(reading.root)) continue; // the same text may stand in the dialog, which tells of it
    const known = readDigests.getSnapshot();
    const isRead = known.has(reading.digest) || reading.isRead;
    if (isRead) {
      watched.delete(reading);
      if (!known.has(reading.digest)) readDigests.set(new Set([...known, reading.digest]));
    }
    tell(reading.digest, isRead ? null : reading.unreadPart);
  }
  if (watched.size > 0) schedule(isStill ? IDLE_LOOK_MS : LOOK_MS);
}

function tell(digest: string, part: UnreadPart | null): void {
  const known = unreadParts.getSnapshot();
  const old = known.get(digest);
  if (old?.lines === part?.lines && old?.side === part?.side) return;
  const others = [...known].filter(([each]) => each !== digest);
  unreadParts.set(new Map(part === null ? others : [...others, [digest, part]]));
}

/** For a text that is gone: a later one has a digest of its own. */
export function forgetRead(digest: string): void {
  const known = readDigests.getSnapshot();
  if (known.has(digest)) readDigests.set(new Set([...known].filter((each) => each !== digest)));
}

function watch(reading: Reading): () => void {
  if (watched.size === 0) {
    document.addEventListener("scroll", onMove, { capture: true, passive: true });
    window.addEventListener("resize", onMove);
    document.addEventListener("visibilitychange", onMove);
  }
  watched.add(reading);
  schedule(LOOK_MS);
  return () => {
    watched.delete(reading);
    tell(reading.digest, null);
    if (watched.size > 0) return;
    document.removeEventListener("scroll", onMove, { capture: true });
    window.removeEventListener("resize", onMove);
    document.removeEventListener("visibilitychange", onMove);
  };
}

const ReadingContext = createContext<Reading | null>(null);

/** Notes the digest of the text inside as read once all of it was on the screen. */
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
  const [reading, setReading] = useState<Reading | null>(null);
  useEffect(() => {
    if (root.current === null) return;
    const next = new Reading(digest, root.current);
    setReading(next);
  }, [digest]);
  // After the boxes inside have opened: nothing is read that nobody has told of.
  useEffect(() => (reading === null ? undefined : watch(reading)), [reading]);
  return (
    <div className={`read-tracker ${extraClass}`} ref={root}>
      <MustBeRead value={true}>
        <ReadingContext value={reading}>{children}</ReadingContext>
      </MustBeRead>
    </div>
  );
}

const MustBeRead = createContext(false);

/** Whether what is shown here waits for a decision, so that all of it must be read. */
export function useMustBeRead(): boolean {
  return useContext(MustBeRead);
}

/** All rows of a box must be read where it stands. Its rows are the elements with `data-index`. */
export function useReadBox(
  element: RefObject<HTMLElement | null>,
  rows: number,
  lineOf: (row: number) => number,
  draw?: (row: number) => void,
): void {
  const reading = useContext(ReadingContext);
  const latest = useRef({ lineOf, draw });
  latest.current = { lineOf, draw };
  useEffect(() => {
    if (reading === null || element.current === null) return;
    return reading.open({
      element: element.current,
      rows,
      lineOf: (row) => latest.current.lineOf(row),
      draw: (row) => latest.current.draw?.(row),
    });
  }, [reading, element, rows]);
}

/** Leads to the first place of these that was not on the screen yet. */
export function showUnread(digests: readonly string[]): void {
  const readings = [...watched].filter((each) => digests.includes(each.digest) && !isBehindDialog(each.root));
  const at = (reading: Reading) => digests.indexOf(reading.digest);
  readings.sort((one, other) => at(one) - at(other))[0]?.reveal();
}
