/** A conversation in the list, with its menu. The open conversation and its ancestors show their sub-agents below. */
import { memo, useEffect, useRef, useState } from "react";
import type { ContextSummary } from "../../api/schema";
import { useQuery, useAppServices } from "../../app/appServices";
import type { Language } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { timeOf } from "../../ui/timeFormat";
import { shortTime } from "./dateGroups";
import { RenameField } from "./RenameField";
import { type ConversationStatus, StatusIcon, statusOf } from "./StatusIcon";
import { useConversationActions, useTitleText } from "./useConversationActions";
import { usePeriodicRefresh } from "./useConversations";

interface Props {
  item: ContextSummary;
  /** The current title: an open conversation knows it before the list does. */
  title: string | null;
  status: ConversationStatus;
  active: string | null;
  /** The ids of the open conversation and its ancestors. */
  ancestry: readonly string[];
  language: Language;
  onNavigate(): void;
}

/** Memoized: the list may have many rows. */
export const ConversationRow = memo(function ConversationRow({
  item,
  title: storedTitle,
  status,
  active,
  ancestry,
  language,
  onNavigate,
}: Props) {
  const t = useTexts("conversationRow");
  const { act, environment } = useAppServices();
  const [isRenaming, setRenaming] = useState(false);
  const id = item.context_id;
  const title = useTitleText()(storedTitle);
  const { entries, dialog } = useConversationActions({ id, title, archived: item.archived ?? false }, () =>
    setRenaming(true),
  );
  const button = useRef<HTMLButtonElement>(null);
  const wasRenaming = useRef(false);
  useEffect(() => {
    if (wasRenaming.current && !isRenaming && document.activeElement === document.body) button.current?.focus();
    wasRenaming.current = isRenaming;
  }, [isRenaming]);
  if (isRenaming) return <RenameField id={id} title={storedTitle ?? ""} onDone={() => setRenaming(false)} />;
  return (
    <>
      <div className={id === active ? "sidebar-row is-active" : "sidebar-row"}>
        <button
          ref={button}
          type="button"
          className="sidebar-item"
          aria-current={id === active ? "page" : undefined}
          onClick={() => (act({ kind: "activate", id }), onNavigate())}
        >
          <StatusIcon status={status} />
          <span className="sidebar-title" title={title}>
            <ForeignText text={title} />
          </span>
          <span className="sidebar-note" title={timeOf(item.updated_at ?? "", language)}>
            {shortTime(item.updated_at ?? "", language, new Date(environment.now()))}
          </span>
        </button>
        <Menu
          label={t("menu", { title })}
          button={<Icon name="more" />}
          buttonClass="button quiet icon small"
          entries={entries}
          placement="below-end"
        />
      </div>
      {dialog}
      {ancestry.includes(id) && (
        <Subagents
          parent={id}
          version={`${item.updated_at} ${status}`}
          active={active}
          ancestry={ancestry}
          language={language}
          onNavigate={onNavigate}
        />
      )}
    </>
  );
});

interface SubagentsProps extends Omit<Props, "item" | "title" | "status"> {
  parent: string;
  version: string;
}

function Subagents({ parent, version, ...rest }: SubagentsProps) {
  const t = useTexts("conversationRow");
  const refreshes = usePeriodicRefresh();
  const items =
    useQuery("GET /api/contexts", { query: { parent, limit: 50 } }, `${version} ${refreshes}`).value?.items ?? [];
  if (items.length === 0) return null;
  return (
    <ul className="sidebar-subagents" aria-label={t("agents")}>
      {items.map((item) => (
        <li key={item.context_id}>
          <ConversationRow item={item} title={item.title ?? null} status={statusOf(item)} {...rest} />
        </li>
      ))}
    </ul>
  );
}
