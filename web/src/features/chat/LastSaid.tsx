/** The person's message that the reader has scrolled past, in one line above what is read: a click goes there. */
import { memo } from "react";
import { useWords } from "../../i18n/words";
import { Icon } from "../../ui/icons";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine } from "../../ui/names";
import { type Row, saidIn } from "./rows";
import { WORDS } from "./words";

const LONGEST = 200;

export const LastSaid = memo(function LastSaid({
  rows,
  first,
  onGo,
}: {
  rows: readonly Row[];
  first: number;
  onGo: (id: string) => void;
}) {
  const t = useWords(WORDS);
  const index = rows.findLastIndex(({ kind }, each) => kind === "said" && each <= first);
  const row = rows[index];
  if (row === undefined || index === first) return null;
  const text = visibleLine(saidIn(row).slice(0, LONGEST));
  return (
    <button
      type="button"
      className="last-said"
      aria-label={t("goToSaid", { text })}
      title={text}
      onClick={() => onGo(row.id)}
    >
      <Icon name="send" size={14} />
      <span>
        <ForeignText text={text} />
      </span>
    </button>
  );
});
