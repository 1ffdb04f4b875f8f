/** One open conversation. It can be dragged, and moved with Ctrl+Shift and an arrow while it has the focus. */
import { type KeyboardEvent, useState } from "react";
import { isComposing } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import type { TabShown } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { ForeignText } from "../../ui/ForeignText";
import { IconButton } from "../../ui/Button";
import { Sign, doingOfTab } from "./Sign";
import { useTitle } from "./useActions";

const WORDS = {
  close: ["Close {title}", "关闭 {title}"],
  moved: ["{title} moved", "已移动 {title}"],
} as const;
const ARROWS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
const MIDDLE = 1;

interface Given {
  tab: TabShown;
  isActive: boolean;
  /** Another one is being dragged: it could be dropped here. */
  isTarget: boolean;
  onGo(): void;
  onClose(): void;
  onMove(by: number): void;
  onDrag(id: string | null): void;
  onDrop(): void;
}

export function TabItem({ tab, isActive, isTarget, onGo, onClose, onMove, onDrag, onDrop }: Given) {
  const t = useWords(WORDS);
  const title = useTitle()(tab.title);
  const [isOver, setOver] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = ARROWS[event.key];
    if (by === undefined || !event.ctrlKey || !event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    onMove(by);
    announce(t("moved", { title }));
  };
  return (
    <li
      className={`tab ${isActive ? "is-active" : ""} ${isOver && isTarget ? "is-target" : ""}`}
      draggable
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = "move";
        onDrag(tab.id);
      }}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => {
        if (isTarget) event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop();
      }}
      onAuxClick={(event) => event.button === MIDDLE && onClose()}
      onMouseDown={(event) => event.button === MIDDLE && event.preventDefault()}
    >
      <button
        type="button"
        className="tab-title"
        title={title}
        aria-current={isActive ? "page" : undefined}
        aria-keyshortcuts="Control+Shift+ArrowLeft Control+Shift+ArrowRight"
        onClick={onGo}
        onKeyDown={onKeyDown}
      >
        <Sign doing={doingOfTab(tab)} />
        <span className="tab-words">
          <ForeignText text={title} />
        </span>
      </button>
      <IconButton kind={["quiet", "small"]} icon="close" label={t("close", { title })} onClick={onClose} />
    </li>
  );
}
