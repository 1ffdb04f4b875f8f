/** The list of conversations: as much of it as was scrolled to, asked for again whenever it may have changed. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Api } from "../../api/http";
import type { ContextSummary, Problem } from "../../api/schema";
import { problemOfError } from "../../api/types";
import { makeCell, useCell } from "../../app/cell";
import { useAsked, usePage, useSlice } from "../../app/page";
import { tabs } from "../../store/selectors";

const STEP = 100;
const AT_ONCE = 200;
const EVERY = 30_000;
/** What changes together is asked for once. */
const TOGETHER = 200;

const NONE: readonly ContextSummary[] = [];
const changes = makeCell(0);

/** Something was done to a conversation that may not be open: renamed, archived, deleted. */
export function listChanged(): void {
  changes.set(changes.getSnapshot() + 1);
}

/** Changes when the list may have changed. */
function useListSince(): string {
  const changed = useCell(changes);
  const seen = useSlice(
    (state) => `${state.connection.is} ${state.session.value?.version} ${JSON.stringify(tabs(state))}`,
  );
  return `${changed} ${seen}`;
}

/** The few that changed last. */
export function useLatest(count: number): readonly ContextSummary[] {
  return useAsked("GET /api/contexts", { query: { limit: count } }, useListSince()).value?.items ?? NONE;
}

export interface Conversations {
  /** Null until they are there. */
  readonly items: readonly ContextSummary[] | null;
  readonly hasMore: boolean;
  readonly problem: Problem | null;
  more(): void;
  again(): void;
}

interface Found {
  readonly archived: boolean;
  readonly items: readonly ContextSummary[] | null;
  readonly hasMore: boolean;
  readonly problem: Problem | null;
}

export function useConversations(archived: boolean): Conversations {
  const { api, ambient } = usePage();
  const since = useListSince();
  const fresh = useFreshness();
  const [wanted, setWanted] = useState(STEP);
  const [found, setFound] = useState<Found>({ archived, items: null, hasMore: false, problem: null });
  const isFirst = useRef(true);
  useEffect(() => {
    const controller = new AbortController();
    const ask = async () => {
      try {
        const { items, hasMore } = await load(api, archived, wanted, controller.signal);
        setFound({ archived, items, hasMore, problem: null });
      } catch (error) {
        if (controller.signal.aborted) return;
        setFound((old) => ({
          ...old,
          archived,
          items: old.archived === archived ? old.items : null,
          problem: problemOfError(error),
        }));
      }
    };
    const cancel = ambient.later(isFirst.current ? 0 : TOGETHER, () => void ask());
    isFirst.current = false;
    return () => {
      cancel();
      controller.abort();
    };
  }, [api, ambient, archived, wanted, since, fresh]);
  const isCurrent = found.archived === archived;
  const length = found.items?.length ?? 0;
  return {
    items: isCurrent ? found.items : null,
    hasMore: isCurrent && found.hasMore,
    problem: isCurrent ? found.problem : null,
    more: useCallback(() => setWanted(length + STEP), [length]),
    again: listChanged,
  };
}

/** The first ones. Each page begins where the one before it ended, whatever moved meanwhile: none comes twice. */
async function load(
  api: Api,
  archived: boolean,
  wanted: number,
  signal: AbortSignal,
): Promise<{ items: ContextSummary[]; hasMore: boolean }> {
  const items = new Map<string, ContextSummary>();
  let cursor: string | undefined;
  do {
    const query = {
      archived,
      limit: Math.min(AT_ONCE, wanted - items.size),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await api("GET /api/contexts", { query }, { signal, isRepeatable: true });
    for (const item of page.items) items.set(item.context_id, item);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.size < wanted);
  return { items: [...items.values()], hasMore: cursor !== undefined };
}

/** Changes when the page is looked at again, and now and then while it is. */
export function useFreshness(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") setCount((old) => old + 1);
    };
    document.addEventListener("visibilitychange", look);
    const timer = setInterval(look, EVERY);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearInterval(timer);
    };
  }, []);
  return count;
}
