/** The tab of an open conversation. It can be dragged, or moved with Ctrl+Shift+arrow while it has the focus. */
import { type KeyboardEvent, useState } from "react";
import { isComposing } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import type { Tab } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { ForeignText } from "../../ui/ForeignText";
import { IconButton } from "../../ui/Button";
import { StatusIcon, statusOfTab } from "./StatusIcon";
import { useTitleText } from "./useConversationActions";

const ARROW_STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
const MIDDLE_BUTTON = 1;

interface Props {
  tab: Tab;
  isActive: boolean;
  /** Whether another tab is being dragged and could be dropped here. */
  isDropTarget: boolean;
  onSelect(): void;
  onClose(): void;
  onMove(by: number): void;
  onDrag(id: string | null): void;
  onDrop(): void;
}

export function TabItem({ tab, isActive, isDropTarget, onSelect, onClose, onMove, onDrag, onDrop }: Props) {
  const t = useTexts("tab");
  const title = useTitleText()(tab.title);
  const [isOver, setOver] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = ARROW_STEPS[event.key];
    if (by === undefined || !event.ctrlKey || !event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    onMove(by);
    announce(t("moved", { title }));
  };
  return (
    <li
      className={`tab ${isActive ? "is-active" : ""} ${isOver && isDropTarget ? "is-target" : ""}`}
      draggable
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = "move";
        onDrag(tab.id);
      }}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => {
        if (isDropTarget) event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop();
      }}
      onAuxClick={(event) => event.button === MIDDLE_BUTTON && onClose()}
      onMouseDown={(event) => event.button === MIDDLE_BUTTON && event.preventDefault()}
    >
      <button
        type="button"
        className="tab-title"
        title={title}
        aria-current={isActive ? "page" : undefined}
        aria-keyshortcuts="Control+Shift+ArrowLeft Control+Shift+ArrowRight"
        onClick={onSelect}
        onKeyDown={onKeyDown}
      >
        <StatusIcon status={statusOfTab(tab)} />
        <span className="tab-words">
          <ForeignText text={title} />
        </span>
      </button>
      <IconButton kind={["quiet", "small"]} icon="close" label={t("close", { title })} onClick={onClose} />
    </li>
  );
}
