/** The open conversations, as the session has them: beside each other, on a phone one above the other in a menu. */
import { useEffect, useRef, useState } from "react";
import { NARROW, useMedia } from "../../app/media";
import { usePage, useSlice } from "../../app/page";
import { ariaKeysOf, keysOf } from "../../app/shortcuts";
import { useTitlePart } from "../../app/title";
import { useWords } from "../../i18n/words";
import { IconButton } from "../../ui/Button";
import { ConversationMenu } from "./ConversationMenu";
import { TabItem } from "./TabItem";
import { TabSwitcher } from "./TabSwitcher";
import { useTitle } from "./useActions";
import { type TabsAtHand, useTabs } from "./useTabs";
import "./tabs.css";

const WORDS = {
  tabs: ["Open conversations", "打开的对话"],
  show: ["Show the conversations", "显示对话列表"],
  new: ["New conversation", "新对话"],
} as const;

/** The conversation itself has no other heading. */
export function Tabs({ isTalk, onToggle }: { isTalk: boolean; onToggle(): void }) {
  const t = useWords(WORDS);
  const { act } = usePage();
  const isNarrow = useMedia(NARROW);
  const at = useTabs();
  const titleOf = useTitle();
  const shown = at.open.find((tab) => tab.id === at.active);
  const known = useSlice((state) => state.contexts[at.active ?? ""]?.shape.value?.title ?? null, [at.active]);
  const title = at.active === null ? t("new") : titleOf(shown?.title ?? known);
  useTitlePart("conversation", at.active === null ? "" : title);
  const begin = () => act({ kind: "activate", id: null });
  return (
    <header className="tabs">
      {isTalk && <h1 className="hidden-visually">{title}</h1>}
      <IconButton
        icon="sidebar"
        label={t("show")}
        title={`${t("show")} (${keysOf("sidebar.toggle")})`}
        extraClass="tabs-show"
        onClick={onToggle}
      />
      {isNarrow ? (
        <TabSwitcher at={at} title={title} onBegin={begin} />
      ) : (
        <TabRow at={at} label={t("tabs")} draft={t("new")} />
      )}
      {!isNarrow && at.active !== null && (
        <IconButton
          icon="add"
          label={t("new")}
          title={`${t("new")} (${keysOf("context.new")})`}
          aria-keyshortcuts={ariaKeysOf("context.new")}
          onClick={begin}
        />
      )}
      {at.active !== null && <ConversationMenu key={at.active} id={at.active} />}
    </header>
  );
}

function TabRow({ at, label, draft }: { at: TabsAtHand; label: string; draft: string }) {
  const [dragged, setDragged] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const isThere = at.open.some((tab) => tab.id === at.active); // a new one comes later than it is looked at
  useEffect(() => {
    const row = list.current;
    if (row === null) return;
    const observer = new ResizeObserver(() =>
      row.querySelector(".is-active")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    );
    observer.observe(row);
    return () => observer.disconnect();
  }, [at.active, isThere]);
  return (
    <ul className="tabs-list" aria-label={label} ref={list}>
      {at.open.map((tab, index) => (
        <TabItem
          key={tab.id}
          tab={tab}
          isActive={tab.id === at.active}
          isTarget={dragged !== null && dragged !== tab.id}
          onGo={() => at.goTo(tab.id)}
          onClose={() => at.close(tab.id)}
          onMove={(by) => at.move(tab.id, index + by)}
          onDrag={setDragged}
          onDrop={() => dragged !== null && at.move(dragged, index)}
        />
      ))}
      {at.active === null && (
        <li className="tab is-active is-draft">
          <span className="tab-title" aria-current="page">
            <span className="tab-words">{draft}</span>
          </span>
        </li>
      )}
    </ul>
  );
}
