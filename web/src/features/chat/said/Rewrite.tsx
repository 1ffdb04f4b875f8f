/** Something that was said, being said otherwise. Esc gives it up; what cannot be sent stays here with the reason. */
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useCell } from "../../../app/cell";
import { useDoing } from "../../../app/page";
import { isComposing } from "../../../app/shortcuts";
import { useWords } from "../../../i18n/words";
import { Button } from "../../../ui/Button";
import { ProblemNote } from "../../../ui/ProblemNote";
import { boxKeyOf, isTouch, sendKeys } from "../composer/keys";
import { useGrowing } from "../composer/useGrowing";
import { type Editing, editing, focusBox } from "../editing";
import { WORDS } from "./words";

interface Given {
  now: Editing;
  /** What the box is called. */
  label: string;
  /** What the button does. */
  done: string;
  note?: string;
  /** Whether there is something beside the text. */
  hasFiles: boolean;
  whyNot: string | null;
  save(text: string): Promise<unknown>;
}

export function Rewrite({ now, label, done, note = "", hasFiles, whyNot, save }: Given) {
  const t = useWords(WORDS);
  const doing = useDoing();
  const sendsWith = useCell(sendKeys);
  const box = useRef<HTMLTextAreaElement>(null);
  useGrowing(box, now.text);
  useEffect(() => {
    const area = box.current;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  const off = doing.isBusy ? t("sending") : (whyNot ?? (now.text.trim() === "" && !hasFiles ? t("empty") : null));
  const close = () => {
    editing.set(null);
    focusBox();
  };
  const run = async () => {
    if (off === null && (await doing.run(() => save(now.text)))) close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const now = { listed: null, isEmpty: false, isRunning: false, isTouch: isTouch(), sendsWith };
    const key = event.target === box.current ? boxKeyOf(event.nativeEvent, now) : null;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (key === "send") void run();
    else if (key !== "nothing") return;
    event.preventDefault();
  };
  return (
    <div className="rewrite" onKeyDown={onKeyDown}>
      <textarea
        ref={box}
        className="field"
        rows={2}
        value={now.text}
        readOnly={doing.isBusy}
        aria-label={label}
        onChange={(event) => editing.set({ ...now, text: event.target.value })}
      />
      <ProblemNote problem={doing.problem} />
      <div className="rewrite-foot">
        <span className="soft small">{note}</span>
        <Button kind="small" onClick={close}>
          {t("cancel")}
        </Button>
        <Button kind={["small", "primary"]} whyNot={off} onClick={() => void run()}>
          {done}
        </Button>
      </div>
    </div>
  );
}
