/** The open conversations, as the session has them. */
import { usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { activeId, tabs } from "../../store/selectors";
import { IconButton } from "../../ui/Button";
import { visibleName } from "../../ui/names";
import { ConversationMenu } from "./ConversationMenu";
import "./tabs.css";

const WORDS = {
  tabs: ["Open conversations", "打开的对话"],
  show: ["Show the conversations", "显示对话列表"],
  untitled: ["Untitled", "未命名"],
  close: ["Close {title}", "关闭 {title}"],
  busy: ["working", "进行中"],
  waiting: ["waits for you", "等待你处理"],
} as const;

export function Tabs({ onToggle }: { onToggle(): void }) {
  const t = useWords(WORDS);
  const { act } = usePage();
  const open = useSlice(tabs);
  const active = useSlice(activeId);
  return (
    <header className="tabs">
      <IconButton icon="sidebar" label={t("show")} extraClass="tabs-show" onClick={onToggle} />
      <ul className="tabs-list" aria-label={t("tabs")}>
        {open.map((tab) => {
          const title = visibleName(tab.title ?? t("untitled"));
          const state = tab.isWaiting ? t("waiting") : tab.isBusy ? t("busy") : "";
          return (
            <li key={tab.id} className={tab.id === active ? "tab is-active" : "tab"}>
              <button type="button" className="tab-title" aria-current={tab.id === active ? "page" : undefined} onClick={() => act({ kind: "activate", id: tab.id })}>
                {state !== "" && (
                  <span className={tab.isWaiting ? "tab-dot is-waiting" : "tab-dot"} title={state}>
                    <span className="hidden-visually">{state}: </span>
                  </span>
                )}
                <span className="tab-words">{title}</span>
              </button>
              <IconButton kind={["quiet", "small"]} icon="close" label={t("close", { title })} onClick={() => act({ kind: "close", id: tab.id })} />
            </li>
          );
        })}
      </ul>
      {active !== null && <ConversationMenu id={active} />}
    </header>
  );
}
