/** Connects a virtual list to React: which rows are rendered, and when. */
import { type RefObject, useLayoutEffect, useMemo, useReducer, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { isEqual } from "../../../store/structuralSharing";
import { VirtualList, type ListStatus } from "./virtualList";
import type { IndexRange } from "./indexRanges";

const MAX_REMEMBERED_LISTS = 16;
const INITIAL_STATUS: ListStatus = { isAway: false, newRows: 0, isNearStart: false, first: 0 };

interface Row {
  readonly id: string;
}

interface Rows<T> {
  /** The key under which the list and its position are cached. */
  readonly name: string;
  readonly stored: readonly T[];
  readonly trailing: readonly T[];
  /** The height of the content above the rows. */
  readonly leadHeight: number;
  /** The list scrolls to its end when this changes. */
  readonly lastSentKey: string | null;
}

interface VirtualListView<T extends Row> {
  readonly list: VirtualList<T>;
  readonly ranges: readonly IndexRange[];
  readonly status: ListStatus;
  readonly element: RefObject<HTMLDivElement | null>;
}

/** Creates a cache of lists by name; `estimate` returns the estimated height of a row. */
export function createListCache<T extends Row>(estimate: (row: T) => number): (name: string) => VirtualList<T> {
  const cache = new Map<string, VirtualList<T>>();
  return (name) => {
    const list = cache.get(name) ?? new VirtualList(estimate);
    cache.delete(name);
    cache.set(name, list);
    for (const old of [...cache.keys()].slice(0, -MAX_REMEMBERED_LISTS)) cache.delete(old);
    return list;
  };
}

export function useVirtualList<T extends Row>(
  listFor: (name: string) => VirtualList<T>,
  rows: Rows<T>,
): VirtualListView<T> {
  const { name, stored, trailing, leadHeight, lastSentKey } = rows;
  const list = useMemo(() => listFor(name), [listFor, name]);
  const element = useRef<HTMLDivElement>(null);
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  const [status, setStatus] = useState(INITIAL_STATUS);
  list.heights.setRows(stored, trailing);
  list.scroller.leadHeight = leadHeight;
  const ranges = list.rangesToRender();
  const renderedRanges = useRef(ranges);

  useLayoutEffect(() => (element.current === null ? undefined : list.attach(element.current)), [list]);
  useLayoutEffect(() => {
    if (lastSentKey !== null) list.scroller.isPinned = true;
  }, [list, lastSentKey]);
  useLayoutEffect(() => {
    renderedRanges.current = ranges;
    const updateStatus = () => setStatus((old) => reuseIfEqual(old, list.status()));
    const isOutdated = () => !isEqual(list.rangesToRender(), renderedRanges.current);
    list.scroller.onMove = () => flushSync(() => (updateStatus(), isOutdated() && rerender()));
    list.scroller.afterRender();
    updateStatus();
    if (isOutdated()) rerender();
  });
  return { list, ranges, status, element };
}

function reuseIfEqual<T>(old: T, fresh: T): T {
  return isEqual(old, fresh) ? old : fresh;
}
