/** A title that is being changed. Enter keeps it, Esc does not. Among others, going elsewhere keeps it too. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useDoing, usePage } from "../../app/page";
import { isComposing } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { listChanged } from "./useConversations";

const WORDS = { title: ["Title of the conversation", "对话标题"], save: ["Save", "保存"] } as const;
const AT_MOST = 100; // as the server takes it

interface Given {
  id: string;
  title: string;
  /** It stands alone in a dialog: there is a button then. */
  isAlone?: boolean;
  onDone(): void;
}

export function RenameBox({ id, title, isAlone = false, onDone }: Given) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const doing = useDoing();
  const [text, setText] = useState(title);
  const box = useRef<HTMLInputElement>(null);
  const isLeft = useRef(false);
  useEffect(() => box.current?.select(), []);
  const save = async () => {
    const wanted = text.trim();
    if (isLeft.current) return;
    if (wanted === "" || wanted === title) return onDone();
    const isDone = await doing.run(() =>
      api("PATCH /api/contexts/{context_id}", { path: { context_id: id }, body: { title: wanted } }),
    );
    if (!isDone) return;
    listChanged();
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Enter") void save();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    isLeft.current = true;
    onDone();
  };
  return (
    <div className="rename">
      <input
        ref={box}
        className="field"
        value={text}
        maxLength={AT_MOST}
        aria-label={t("title")}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => isAlone || void save()}
        autoFocus
      />
      {isAlone && (
        <Button kind="primary" disabled={doing.isBusy} onClick={() => void save()}>
          {t("save")}
        </Button>
      )}
      <ProblemNote problem={doing.problem} />
    </div>
  );
}
