/** Conversations by day, newest first. Only what is seen is drawn, and more is asked for before its end is reached. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { ContextSummary } from "../../api/schema";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { activeId, tabs } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { ConversationRow } from "./ConversationRow";
import { type Day, byDay } from "./days";
import { doingOf, doingOfTab } from "./Sign";
import { Skeleton } from "./Skeleton";
import { useConversations } from "./useConversations";

const WORDS = {
  today: ["Today", "今天"],
  yesterday: ["Yesterday", "昨天"],
  earlier: ["Earlier", "更早"],
  none: ["No conversations yet. What you begin is kept here.", "还没有对话。开始的对话会保留在这里。"],
  noneArchived: ["Nothing is archived.", "没有已归档的对话。"],
  again: ["Try again", "重试"],
} as const;
const HEIGHT = 36;
const NEAR_END = 20;

type Entry = { readonly key: string; readonly day: Day } | { readonly key: string; readonly item: ContextSummary };

export function ConversationList({ isArchive, onChosen }: { isArchive: boolean; onChosen(): void }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { ambient } = usePage();
  const { items, hasMore, problem, more, again } = useConversations(isArchive);
  const open = useSlice(tabs);
  const active = useSlice(activeId);
  const family = useSlice(
    (state) => familyOf(active, (id) => state.contexts[id]?.shape.value?.parent ?? null),
    [active],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const entries = useMemo(() => entriesOf(items ?? [], ambient.now()), [items, ambient]);
  const list = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    getItemKey: (index) => entries[index]?.key ?? index,
    overscan: 12,
  });
  const shown = list.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= entries.length - NEAR_END;
  useEffect(() => {
    if (hasMore && isNearEnd) more();
  }, [hasMore, isNearEnd, more]);
  return (
    <div className="sidebar-list" ref={scroller}>
      {problem !== null && (
        <div className="sidebar-problem">
          <ProblemNote problem={problem} />
          <Button kind="small" icon="retry" onClick={again}>
            {t("again")}
          </Button>
        </div>
      )}
      {items === null && problem === null && <Skeleton lines={7} />}
      {items?.length === 0 && <p className="soft small sidebar-none">{t(isArchive ? "noneArchived" : "none")}</p>}
      <ul style={{ height: list.getTotalSize() }}>
        {shown.map(({ index, key, start }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          const item = "item" in entry ? entry.item : null;
          const tab = open.find((each) => each.id === item?.context_id);
          return (
            <li key={key} ref={list.measureElement} data-index={index} style={{ transform: `translateY(${start}px)` }}>
              {"day" in entry ? (
                <h2 className="sidebar-day">{t(entry.day)}</h2>
              ) : (
                <ConversationRow
                  item={entry.item}
                  title={(tab === undefined ? entry.item.title : tab.title) ?? null}
                  doing={tab === undefined ? doingOf(entry.item) : doingOfTab(tab)}
                  active={active}
                  family={family}
                  language={language}
                  onChosen={onChosen}
                />
              )}
            </li>
          );
        })}
      </ul>
      {hasMore && <Skeleton lines={2} />}
    </div>
  );
}

function entriesOf(items: readonly ContextSummary[], now: number): readonly Entry[] {
  return byDay(items, new Date(now)).flatMap(({ day, items: group }) => [
    { key: day, day },
    ...group.map((item) => ({ key: item.context_id, item })),
  ]);
}

/** The active conversation and those that sent it, as far as they are known. */
function familyOf(active: string | null, parentOf: (id: string) => string | null): readonly string[] {
  const found: string[] = [];
  for (let id = active; id !== null && !found.includes(id); id = parentOf(id)) found.push(id);
  return found;
}
