/** The last user message above the viewport in one line; a click scrolls to it. */
import { memo } from "react";
import { useTexts } from "../../../i18n/texts";
import { Icon } from "../../../ui/icons";
import { ForeignText } from "../../../ui/ForeignText";
import { visibleLine } from "../../../ui/safeText";
import { type Row, userTextOf } from "./rows";

const MAX_CHARACTERS = 200;

export const LastUserMessage = memo(function LastUserMessage({
  rows,
  firstVisible,
  onJump,
}: {
  rows: readonly Row[];
  firstVisible: number;
  onJump: (id: string) => void;
}) {
  const t = useTexts("chat");
  const index = rows.findLastIndex(({ kind }, each) => kind === "user" && each <= firstVisible);
  const row = rows[index];
  if (row === undefined || index === firstVisible) return null;
  const text = visibleLine(userTextOf(row).slice(0, MAX_CHARACTERS));
  return (
    <button
      type="button"
      className="last-user-message"
      aria-label={t("goToSaid", { text })}
      title={text}
      onClick={() => onJump(row.id)}
    >
      <Icon name="send" size={14} />
      <span>
        <ForeignText text={text} />
      </span>
    </button>
  );
});
