/** Edits a message. Esc cancels; a text that cannot be sent remains, with the reason. */
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useAtom } from "../../../app/atom";
import { useAction } from "../../../app/appServices";
import { isComposing } from "../../../app/shortcuts";
import { useTexts } from "../../../i18n/texts";
import { Button } from "../../../ui/Button";
import { ProblemNote } from "../../../ui/ProblemNote";
import { composerActionForKey, isTouch, sendKeysAtom } from "../composer/composerKeys";
import { useAutoGrow } from "../composer/useAutoGrow";
import { type MessageEdit, messageEdit, focusComposer } from "../messageEdit";

interface Props {
  edit: MessageEdit;
  /** The accessible name of the text field. */
  label: string;
  /** The label of the submit button. */
  submitLabel: string;
  note?: string;
  /** Whether the message has files, so that its text may be empty. */
  hasFiles: boolean;
  disabledReason: string | null;
  save(text: string): Promise<unknown>;
}

export function MessageEditor({ edit, label, submitLabel, note = "", hasFiles, disabledReason, save }: Props) {
  const t = useTexts("userMessage");
  const action = useAction();
  const sendKeys = useAtom(sendKeysAtom);
  const textarea = useRef<HTMLTextAreaElement>(null);
  useAutoGrow(textarea, edit.text);
  useEffect(() => {
    const area = textarea.current;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  const saveDisabledReason = action.isBusy
    ? t("sending")
    : (disabledReason ?? (edit.text.trim() === "" && !hasFiles ? t("empty") : null));
  const close = () => {
    messageEdit.set(null);
    focusComposer();
  };
  const run = async () => {
    if (saveDisabledReason === null && (await action.run(() => save(edit.text)))) close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const state = { suggestionCount: null, isEmpty: false, isRunning: false, isTouch: isTouch(), sendKeys };
    const key = event.target === textarea.current ? composerActionForKey(event.nativeEvent, state) : null;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (key === "send") void run();
    else if (key !== "nothing") return;
    event.preventDefault();
  };
  return (
    <div className="message-editor" onKeyDown={onKeyDown}>
      <textarea
        ref={textarea}
        className="field"
        rows={2}
        value={edit.text}
        readOnly={action.isBusy}
        aria-label={label}
        onChange={(event) => messageEdit.set({ ...edit, text: event.target.value })}
      />
      <ProblemNote problem={action.problem} />
      <div className="message-editor-foot">
        <span className="soft small">{note}</span>
        <Button kind="small" onClick={close}>
          {t("cancel")}
        </Button>
        <Button kind={["small", "primary"]} disabledReason={saveDisabledReason} onClick={() => void run()}>
          {submitLabel}
        </Button>
      </div>
    </div>
  );
}
