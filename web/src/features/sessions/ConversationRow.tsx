/** One conversation of the list, with its menu; beneath the one that is open, the sub-agents that it has sent. */
import { memo, useEffect, useRef, useState } from "react";
import type { ContextSummary } from "../../api/schema";
import { useAsked, usePage } from "../../app/page";
import type { Language } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { timeOf } from "../../ui/times";
import { shortTime } from "./days";
import { RenameBox } from "./RenameBox";
import { type Doing, Sign, doingOf } from "./Sign";
import { useActions, useTitle } from "./useActions";
import { useFreshness } from "./useConversations";

const WORDS = {
  menu: ["More for “{title}”", "“{title}”的更多操作"],
  agents: ["Sub-agents", "子智能体"],
} as const;

interface Given {
  item: ContextSummary;
  /** As it is now: an open conversation knows it earlier than the list. */
  title: string | null;
  doing: Doing;
  active: string | null;
  /** The open conversation and those above it: beneath them, their sub-agents are shown. */
  family: readonly string[];
  language: Language;
  onChosen(): void;
}

/** Drawn again only when something of it changes: there are many. */
export const ConversationRow = memo(function ConversationRow({
  item,
  title: raw,
  doing,
  active,
  family,
  language,
  onChosen,
}: Given) {
  const t = useWords(WORDS);
  const { act, ambient } = usePage();
  const [isRenaming, setRenaming] = useState(false);
  const id = item.context_id;
  const title = useTitle()(raw);
  const { entries, dialog } = useActions({ id, title, archived: item.archived ?? false }, () => setRenaming(true));
  const button = useRef<HTMLButtonElement>(null);
  const wasRenaming = useRef(false);
  useEffect(() => {
    if (wasRenaming.current && !isRenaming && document.activeElement === document.body) button.current?.focus();
    wasRenaming.current = isRenaming;
  }, [isRenaming]);
  if (isRenaming) return <RenameBox id={id} title={raw ?? ""} onDone={() => setRenaming(false)} />;
  return (
    <>
      <div className={id === active ? "sidebar-row is-active" : "sidebar-row"}>
        <button
          ref={button}
          type="button"
          className="sidebar-item"
          aria-current={id === active ? "page" : undefined}
          onClick={() => (act({ kind: "activate", id }), onChosen())}
        >
          <Sign doing={doing} />
          <span className="sidebar-title" title={title}>
            <ForeignText text={title} />
          </span>
          <span className="sidebar-note" title={timeOf(item.updated_at ?? "", language)}>
            {shortTime(item.updated_at ?? "", language, new Date(ambient.now()))}
          </span>
        </button>
        <Menu
          label={t("menu", { title })}
          button={<Icon name="more" />}
          buttonClass="button quiet icon small"
          entries={entries}
          place="below-end"
        />
      </div>
      {dialog}
      {family.includes(id) && (
        <SubAgents
          parent={id}
          since={`${item.updated_at} ${doing}`}
          active={active}
          family={family}
          language={language}
          onChosen={onChosen}
        />
      )}
    </>
  );
});

interface Below extends Omit<Given, "item" | "title" | "doing"> {
  parent: string;
  since: string;
}

function SubAgents({ parent, since, ...rest }: Below) {
  const t = useWords(WORDS);
  const fresh = useFreshness();
  const found = useAsked("GET /api/contexts", { query: { parent, limit: 50 } }, `${since} ${fresh}`).value?.items ?? [];
  if (found.length === 0) return null;
  return (
    <ul className="sidebar-below" aria-label={t("agents")}>
      {found.map((item) => (
        <li key={item.context_id}>
          <ConversationRow item={item} title={item.title ?? null} doing={doingOf(item)} {...rest} />
        </li>
      ))}
    </ul>
  );
}
