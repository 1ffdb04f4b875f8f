/** Edits the title of a conversation. Enter saves, Esc cancels. In the list, leaving the field saves, too. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useAction, useAppServices } from "../../app/appServices";
import { isComposing } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { refreshConversations } from "./useConversations";

// The limit of the server.
const MAX_TITLE_CHARACTERS = 100;

interface Props {
  id: string;
  title: string;
  /** Whether to show a save button: in a dialog, leaving the field does not save. */
  hasSaveButton?: boolean;
  onDone(): void;
}

export function RenameField({ id, title, hasSaveButton = false, onDone }: Props) {
  const t = useTexts("rename");
  const { api } = useAppServices();
  const action = useAction();
  const [text, setText] = useState(title);
  const input = useRef<HTMLInputElement>(null);
  const isCancelled = useRef(false);
  useEffect(() => input.current?.select(), []);
  const save = async () => {
    const newTitle = text.trim();
    if (isCancelled.current) return;
    if (newTitle === "" || newTitle === title) return onDone();
    const isDone = await action.run(() =>
      api("PATCH /api/contexts/{context_id}", { path: { context_id: id }, body: { title: newTitle } }),
    );
    if (!isDone) return;
    refreshConversations();
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Enter") void save();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    isCancelled.current = true;
    onDone();
  };
  return (
    <div className="rename">
      <input
        ref={input}
        className="field"
        value={text}
        maxLength={MAX_TITLE_CHARACTERS}
        aria-label={t("title")}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => hasSaveButton || void save()}
        autoFocus
      />
      {hasSaveButton && (
        <Button kind="primary" disabled={action.isBusy} onClick={() => void save()}>
          {t("save")}
        </Button>
      )}
      <ProblemNote problem={action.problem} />
    </div>
  );
}
