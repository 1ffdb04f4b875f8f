/**
 * The list of conversations: loads as many as the user has scrolled to, and refreshes when the list may have changed.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Api } from "../../api/http";
import type { ContextSummary, Problem } from "../../api/schema";
import { problemOfError } from "../../api/types";
import { createAtom, useAtom } from "../../app/atom";
import { useQuery, useAppServices, useSelector } from "../../app/appServices";
import { openTabs } from "../../store/selectors";

const CONVERSATIONS_PER_PAGE = 100;
const MAX_CONVERSATIONS_PER_REQUEST = 200;
const REFRESH_MS = 30_000;
/** Changes within this time cause one request. */
const DEBOUNCE_MS = 200;

const NO_CONVERSATIONS: readonly ContextSummary[] = [];
const changeCount = createAtom(0);

/** Refreshes the list after a change that the store does not see: renaming, archiving or deleting a conversation. */
export function refreshConversations(): void {
  changeCount.set(changeCount.getSnapshot() + 1);
}

/** A string that changes when the list may have changed. */
function useListVersion(): string {
  const changes = useAtom(changeCount);
  const stateVersion = useSelector(
    (state) => `${state.connection.status} ${state.session.value?.version} ${JSON.stringify(openTabs(state))}`,
  );
  return `${changes} ${stateVersion}`;
}

/** The most recently changed conversations. */
export function useRecentConversations(count: number): readonly ContextSummary[] {
  return useQuery("GET /api/contexts", { query: { limit: count } }, useListVersion()).value?.items ?? NO_CONVERSATIONS;
}

interface Conversations {
  /** Null until loaded. */
  readonly items: readonly ContextSummary[] | null;
  readonly hasMore: boolean;
  readonly problem: Problem | null;
  loadMore(): void;
  refetch(): void;
}

interface LoadedList {
  readonly archived: boolean;
  readonly items: readonly ContextSummary[] | null;
  readonly hasMore: boolean;
  readonly problem: Problem | null;
}

export function useConversations(archived: boolean): Conversations {
  const { api, environment } = useAppServices();
  const version = useListVersion();
  const refreshes = usePeriodicRefresh();
  const [targetCount, setTargetCount] = useState(CONVERSATIONS_PER_PAGE);
  const [list, setList] = useState<LoadedList>({ archived, items: null, hasMore: false, problem: null });
  const isFirst = useRef(true);
  useEffect(() => {
    const controller = new AbortController();
    const loadList = async () => {
      try {
        const { items, hasMore } = await loadConversations(api, archived, targetCount, controller.signal);
        setList({ archived, items, hasMore, problem: null });
      } catch (error) {
        if (controller.signal.aborted) return;
        setList((old) => ({
          ...old,
          archived,
          items: old.archived === archived ? old.items : null,
          problem: problemOfError(error),
        }));
      }
    };
    const cancel = environment.schedule(isFirst.current ? 0 : DEBOUNCE_MS, () => void loadList());
    isFirst.current = false;
    return () => {
      cancel();
      controller.abort();
    };
  }, [api, environment, archived, targetCount, version, refreshes]);
  const isCurrent = list.archived === archived;
  const length = list.items?.length ?? 0;
  return {
    items: isCurrent ? list.items : null,
    hasMore: isCurrent && list.hasMore,
    problem: isCurrent ? list.problem : null,
    loadMore: useCallback(() => setTargetCount(length + CONVERSATIONS_PER_PAGE), [length]),
    refetch: refreshConversations,
  };
}

/** Loads the first conversations page by page. Items that move meanwhile do not appear twice. */
async function loadConversations(
  api: Api,
  archived: boolean,
  targetCount: number,
  signal: AbortSignal,
): Promise<{ items: ContextSummary[]; hasMore: boolean }> {
  const items = new Map<string, ContextSummary>();
  let cursor: string | undefined;
  do {
    const query = {
      archived,
      limit: Math.min(MAX_CONVERSATIONS_PER_REQUEST, targetCount - items.size),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await api("GET /api/contexts", { query }, { signal, isRepeatable: true });
    for (const item of page.items) items.set(item.context_id, item);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.size < targetCount);
  return { items: [...items.values()], hasMore: cursor !== undefined };
}

/** A number that changes when the tab becomes visible, and periodically while it is visible. */
export function usePeriodicRefresh(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === "visible") setCount((old) => old + 1);
    };
    document.addEventListener("visibilitychange", refresh);
    const timer = setInterval(refresh, REFRESH_MS);
    return () => {
      document.removeEventListener("visibilitychange", refresh);
      clearInterval(timer);
    };
  }, []);
  return count;
}
