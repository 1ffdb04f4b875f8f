/**
 * The conversations by day, newest first. Only visible rows are rendered; more conversations are loaded before the end
 * is reached.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { ContextSummary } from "../../api/schema";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { activeId, openTabs } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { ConversationRow } from "./ConversationRow";
import { type Day, groupByDay } from "./dateGroups";
import { statusOf, statusOfTab } from "./StatusIcon";
import { Skeleton } from "../../ui/Skeleton";
import { useConversations } from "./useConversations";

const ROW_HEIGHT_PX = 36;
const LOAD_MORE_MARGIN_ROWS = 20;

type Entry = { readonly key: string; readonly day: Day } | { readonly key: string; readonly item: ContextSummary };

export function ConversationList({ isArchive, onNavigate }: { isArchive: boolean; onNavigate(): void }) {
  const t = useTexts("conversationList");
  const language = useLanguage();
  const { environment } = useAppServices();
  const { items, hasMore, problem, loadMore, refetch } = useConversations(isArchive);
  const tabs = useSelector(openTabs);
  const active = useSelector(activeId);
  const ancestry = useSelector(
    (state) => ancestryOf(active, (id) => state.contexts[id]?.view.value?.parent ?? null),
    [active],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const entries = useMemo(() => entriesOf(items ?? [], environment.now()), [items, environment]);
  const list = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    getItemKey: (index) => entries[index]?.key ?? index,
    overscan: 12,
  });
  const virtualItems = list.getVirtualItems();
  const isNearEnd = (virtualItems.at(-1)?.index ?? 0) >= entries.length - LOAD_MORE_MARGIN_ROWS;
  useEffect(() => {
    if (hasMore && isNearEnd) loadMore();
  }, [hasMore, isNearEnd, loadMore]);
  return (
    <div className="sidebar-list" ref={scroller}>
      {problem !== null && (
        <div className="sidebar-problem">
          <ProblemNote problem={problem} />
          <Button kind="small" icon="retry" onClick={refetch}>
            {t("again")}
          </Button>
        </div>
      )}
      {items === null && problem === null && <Skeleton lines={7} />}
      {items?.length === 0 && <p className="soft small sidebar-none">{t(isArchive ? "noneArchived" : "none")}</p>}
      <ul style={{ height: list.getTotalSize() }}>
        {virtualItems.map(({ index, key, start }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          const item = "item" in entry ? entry.item : null;
          const tab = tabs.find((each) => each.id === item?.context_id);
          return (
            <li key={key} ref={list.measureElement} data-index={index} style={{ transform: `translateY(${start}px)` }}>
              {"day" in entry ? (
                <h2 className="sidebar-day">{t(entry.day)}</h2>
              ) : (
                <ConversationRow
                  item={entry.item}
                  title={(tab === undefined ? entry.item.title : tab.title) ?? null}
                  status={tab === undefined ? statusOf(entry.item) : statusOfTab(tab)}
                  active={active}
                  ancestry={ancestry}
                  language={language}
                  onNavigate={onNavigate}
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
  return groupByDay(items, new Date(now)).flatMap(({ day, items: group }) => [
    { key: day, day },
    ...group.map((item) => ({ key: item.context_id, item })),
  ]);
}

/** The ids of the active conversation and its known ancestors. */
function ancestryOf(active: string | null, parentOf: (id: string) => string | null): readonly string[] {
  const ids: string[] = [];
  for (let id = active; id !== null && !ids.includes(id); id = parentOf(id)) ids.push(id);
  return ids;
}
