/** Ties a list to React: what of it is drawn, and when it is drawn anew. */
import { type RefObject, useLayoutEffect, useMemo, useReducer, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { isAlike } from "../../../store/share";
import { List, type Status } from "./list";
import type { Span } from "./spans";

const REMEMBERED = 16;
const FIRST: Status = { isAway: false, newRows: 0, isNearStart: false, first: 0 };

interface Row {
  readonly id: string;
}

export interface Rows<T> {
  /** Under this name the list is found again. */
  readonly name: string;
  readonly stored: readonly T[];
  readonly end: readonly T[];
  /** How much stands before the rows. */
  readonly lead: number;
  /** The end is gone to when this changes. */
  readonly sent: string | null;
}

export interface Used<T extends Row> {
  readonly list: List<T>;
  readonly spans: readonly Span[];
  readonly status: Status;
  readonly element: RefObject<HTMLDivElement | null>;
}

/** Gives the list for a name: a function of its own for each kind of row. */
export function lists<T extends Row>(guess: (row: T) => number): (name: string) => List<T> {
  const known = new Map<string, List<T>>();
  return (name) => {
    const list = known.get(name) ?? new List(guess);
    known.delete(name);
    known.set(name, list);
    for (const old of [...known.keys()].slice(0, -REMEMBERED)) known.delete(old);
    return list;
  };
}

export function useList<T extends Row>(find: (name: string) => List<T>, rows: Rows<T>): Used<T> {
  const { name, stored, end, lead, sent } = rows;
  const list = useMemo(() => find(name), [find, name]);
  const element = useRef<HTMLDivElement>(null);
  const [, drawAnew] = useReducer((count: number) => count + 1, 0);
  const [status, setStatus] = useState(FIRST);
  list.heights.take(stored, end);
  list.scroller.lead = lead;
  const spans = list.wanted();
  const drawn = useRef(spans);

  useLayoutEffect(() => (element.current === null ? undefined : list.attach(element.current)), [list]);
  useLayoutEffect(() => {
    if (sent !== null) list.scroller.isPinned = true;
  }, [list, sent]);
  useLayoutEffect(() => {
    drawn.current = spans;
    const look = () => setStatus((old) => keepAlike(old, list.status()));
    const isOld = () => !isAlike(list.wanted(), drawn.current);
    list.scroller.onMove = () => flushSync(() => (look(), isOld() && drawAnew()));
    list.scroller.drawnAnew();
    look();
    if (isOld()) drawAnew();
  });
  return { list, spans, status, element };
}

function keepAlike<T>(old: T, fresh: T): T {
  return isAlike(old, fresh) ? old : fresh;
}
