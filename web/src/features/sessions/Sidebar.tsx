/** The conversations that there are. */
import { useAsked, useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { activeId, tabs } from "../../store/selectors";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { visibleName } from "../../ui/names";
import { ago } from "../../ui/times";
import { SidebarFoot } from "./SidebarFoot";
import "./sidebar.css";

const WORDS = {
  conversations: ["Conversations", "对话"],
  new: ["New conversation", "新对话"],
  hide: ["Hide the conversations", "隐藏对话列表"],
  untitled: ["Untitled", "未命名"],
  none: ["No conversations yet", "还没有对话"],
} as const;

export function Sidebar({ onToggle, onChosen }: { onToggle(): void; onChosen(): void }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act } = usePage();
  const active = useSlice(activeId);
  const since = useSlice((state) => `${state.connection.is} ${state.session.value?.version} ${JSON.stringify(tabs(state))}`);
  const found = useAsked("GET /api/contexts", { query: { limit: 50 } }, since).value?.items;
  return (
    <nav className="sidebar" aria-label={t("conversations")}>
      <header className="sidebar-head">
        <span className="brand">
          <Icon name="helm" size={22} /> Pilothouse
        </span>
        <IconButton icon="sidebar" label={t("hide")} onClick={onToggle} />
      </header>
      <Button
        icon="add"
        extraClass="sidebar-new"
        onClick={() => (act({ kind: "activate", id: null }), onChosen())}
      >
        {t("new")}
      </Button>
      <ul className="sidebar-list">
        {found?.map((each) => (
          <li key={each.context_id}>
            <button
              type="button"
              className="sidebar-item"
              aria-current={each.context_id === active ? "page" : undefined}
              onClick={() => (act({ kind: "activate", id: each.context_id }), onChosen())}
            >
              <span className="sidebar-title">{visibleName(each.title ?? t("untitled"))}</span>
              <span className="sidebar-note">{ago(each.updated_at ?? "", language)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found?.length === 0 && <p className="soft small sidebar-none">{t("none")}</p>}
      <SidebarFoot />
    </nav>
  );
}
