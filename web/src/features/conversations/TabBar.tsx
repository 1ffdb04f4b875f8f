/** The open conversations of the session: a row of tabs, or a menu on a narrow screen. */
import { useEffect, useRef, useState } from "react";
import { NARROW, useMedia } from "../../app/mediaQuery";
import { useAppServices, useSelector } from "../../app/appServices";
import { ariaKeysOf, keysOf } from "../../app/shortcuts";
import { useTitlePart } from "../../app/documentTitle";
import { useTexts } from "../../i18n/texts";
import { IconButton } from "../../ui/Button";
import { ConversationMenu } from "./ConversationMenu";
import { TabItem } from "./TabItem";
import { TabSwitcher } from "./TabSwitcher";
import { useTitleText } from "./useConversationActions";
import { type TabControls, useTabs } from "./useTabs";
import "./tab-bar.css";

/** Also renders the heading of the conversation for screen readers. */
export function TabBar({ hasTranscript, onToggle }: { hasTranscript: boolean; onToggle(): void }) {
  const t = useTexts("tabs");
  const { act } = useAppServices();
  const isNarrow = useMedia(NARROW);
  const controls = useTabs();
  const titleOf = useTitleText();
  const activeTab = controls.tabs.find((tab) => tab.id === controls.active);
  const savedTitle = useSelector(
    (state) => state.contexts[controls.active ?? ""]?.view.value?.title ?? null,
    [controls.active],
  );
  const title = controls.active === null ? t("new") : titleOf(activeTab?.title ?? savedTitle);
  useTitlePart("conversation", controls.active === null ? "" : title);
  const startConversation = () => act({ kind: "activate", id: null });
  return (
    <header className="tabs">
      {hasTranscript && <h1 className="hidden-visually">{title}</h1>}
      <IconButton
        icon="sidebar"
        label={t("show")}
        title={`${t("show")} (${keysOf("sidebar.toggle")})`}
        extraClass="tabs-show"
        onClick={onToggle}
      />
      {isNarrow ? (
        <TabSwitcher controls={controls} title={title} onNew={startConversation} />
      ) : (
        <TabRow controls={controls} label={t("tabs")} draft={t("new")} />
      )}
      {!isNarrow && controls.active !== null && (
        <IconButton
          icon="add"
          label={t("new")}
          title={`${t("new")} (${keysOf("context.new")})`}
          aria-keyshortcuts={ariaKeysOf("context.new")}
          onClick={startConversation}
        />
      )}
      {controls.active !== null && <ConversationMenu key={controls.active} id={controls.active} />}
    </header>
  );
}

function TabRow({ controls, label, draft }: { controls: TabControls; label: string; draft: string }) {
  const [dragged, setDragged] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  // A new conversation is selected before its tab exists.
  const isActiveListed = controls.tabs.some((tab) => tab.id === controls.active);
  useEffect(() => {
    const row = list.current;
    if (row === null) return;
    const observer = new ResizeObserver(() =>
      row.querySelector(".is-active")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    );
    observer.observe(row);
    return () => observer.disconnect();
  }, [controls.active, isActiveListed]);
  return (
    <ul className="tabs-list" aria-label={label} ref={list}>
      {controls.tabs.map((tab, index) => (
        <TabItem
          key={tab.id}
          tab={tab}
          isActive={tab.id === controls.active}
          isDropTarget={dragged !== null && dragged !== tab.id}
          onSelect={() => controls.goTo(tab.id)}
          onClose={() => controls.close(tab.id)}
          onMove={(by) => controls.move(tab.id, index + by)}
          onDrag={setDragged}
          onDrop={() => dragged !== null && controls.move(dragged, index)}
        />
      ))}
      {controls.active === null && (
        <li className="tab is-active is-draft">
          <span className="tab-title" aria-current="page">
            <span className="tab-words">{draft}</span>
          </span>
        </li>
      )}
    </ul>
  );
}
