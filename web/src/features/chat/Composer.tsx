/** The box in which a person writes: it sends, it stops, and it keeps what is not sent. */
import { type KeyboardEvent as Pressed, type RefObject, useEffect, useRef, useState } from "react";
import type { Problem } from "../../api/schema";
import { problemOfError } from "../../api/types";
import { useCell } from "../../app/cell";
import { GRACE, isTypedNowhere } from "../../app/focusPolicy";
import { useDoing, usePage, useSlice } from "../../app/page";
import { isComposing, keysShown, useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { canSend, isBusy, isConnected, isStopping as isTurnStopping } from "../../store/selectors";
import type { State } from "../../store/state";
import { IconButton } from "../../ui/Button";
import { notify } from "../../ui/Notices";
import { ProblemNote } from "../../ui/ProblemNote";
import { ElevationChip } from "../modes/ElevationChip";
import { ModeSelector, useMode } from "../modes/ModeSelector";
import { ModelMenu } from "../sessions/ModelMenu";
import { TokenChip } from "../window/TokenChip";
import { AttachButton } from "./composer/AttachButton";
import { Chips } from "./composer/Chips";
import { FileOptions } from "./composer/FileOptions";
import { boxKeyOf, isTouch, sendKeys } from "./composer/keys";
import { useEnsureContext, useSendDraft } from "./composer/sending";
import { uploads } from "./composer/uploads";
import { useAttaching } from "./composer/useAttaching";
import { useEditLast } from "./composer/useEditLast";
import { useFileList } from "./composer/useFileList";
import { useGrowing } from "./composer/useGrowing";
import { WORDS } from "./composer/words";
import { drafts, useDraft } from "./drafts";
import { BOX_ID } from "./editing";
import "./composer.css";

export function Composer({ id }: { id: string | null }) {
  const t = useWords(WORDS);
  const { act, ambient } = usePage();
  const draft = useDraft(id);
  const { mode } = useMode(id);
  const how = useSlice((state) => howToSend(state, id), [id]);
  const isRunning = useSlice((state) => id !== null && isBusy(state, id), [id]);
  const isStopping = useSlice((state) => id !== null && isTurnStopping(state, id), [id]);
  const going = useCell(uploads).filter((each) => each.context === id);
  const sendsWith = useCell(sendKeys);
  const box = useRef<HTMLTextAreaElement>(null);
  const sending = useDoing();
  const sendDraft = useSendDraft(id);
  const makeContext = useEnsureContext(id);
  const [problem, setProblem] = useState<Problem | null>(null);
  const ensure = () =>
    makeContext()
      .then((made) => (setProblem(null), made))
      .catch((error: unknown) => (setProblem(problemOfError(error)), null));
  const list = useFileList(id, box, ensure);
  const attaching = useAttaching(ensure, {
    attached: (text) => notify(t("longText", { n: text.length.toLocaleString() })),
    not: (text) => drafts.add(id, { text, files: [] }),
  });
  const editLast = useEditLast(id);
  useShortcut("composer.focus", () => box.current?.focus());
  useLettersTypedNowhere(box);
  const focusedAt = useRef(-Infinity);
  useGrowing(box, draft.text);
  useEffect(() => {
    // What was amiss there, and what was being looked for, is nothing of this conversation's.
    sending.forget();
    setProblem(null);
    list.hide();
  }, [id]);

  const isEmpty = draft.text.trim() === "" && draft.files.length === 0;
  const whyNot =
    how === "offline" || how === "loading" || how === "gone"
      ? t(how)
      : going.some((each) => each.problem !== null)
        ? t("notUploaded")
        : going.length > 0
          ? t("uploading")
          : isEmpty
            ? t("empty")
            : null;
  const send = () => {
    if (whyNot === null) void sending.run(() => sendDraft(drafts.read(id)));
    if (!isTouch()) box.current?.focus();
  };
  const stop = () => {
    if (id !== null && !isStopping) act({ kind: "steer", id, how: "cancel" });
  };
  const onKeyDown = (event: Pressed) => {
    const listed = list.items?.length ?? null;
    const { nativeEvent } = event;
    const key = boxKeyOf(nativeEvent, {
      listed,
      isEmpty: draft.text === "",
      isRunning: isRunning && how !== "offline" && ambient.now() - focusedAt.current >= GRACE,
      isTouch: isTouch(),
      sendsWith,
    });
    if (key === null && event.key === ":" && !isComposing(nativeEvent) && list.takesColon())
      return event.preventDefault();
    if (key === null) return;
    event.preventDefault();
    if (key === "send") send();
    else if (key === "stop") stop();
    else if (key === "edit_last") editLast();
    else if (key === "list_up" || key === "list_down") list.move(key === "list_up" ? -1 : 1);
    else if (key === "list_choose") list.choose(list.meant);
    else if (key === "list_close") list.close();
  };
  const isTurnOpen = how === "later";
  const keys = isTouch() ? "" : t(sendsWith, { mod: keysShown("Mod+") });
  return (
    <form
      className={`composer ${attaching.isOver ? "is-over" : ""}`}
      data-mode={mode ?? undefined}
      onSubmit={(event) => (event.preventDefault(), send())}
    >
      <FileOptions list={list} />
      <Chips id={id} />
      <ProblemNote problem={sending.problem ?? problem} />
      <textarea
        ref={box}
        id={BOX_ID}
        rows={1}
        value={draft.text}
        aria-label={t("box")}
        aria-autocomplete="list"
        aria-controls={list.items === null ? undefined : list.listId}
        aria-activedescendant={list.items !== null && list.items.length > 0 ? list.optionId(list.meant) : undefined}
        placeholder={t(isTurnOpen ? "placeholderLater" : "placeholder")}
        onChange={(event) => {
          drafts.write(id, { text: event.target.value });
          if (!(event.nativeEvent instanceof InputEvent && event.nativeEvent.isComposing)) list.look();
        }}
        onCompositionEnd={list.look}
        onFocus={() => (focusedAt.current = ambient.now())}
        onBlur={list.hide}
        onPaste={attaching.onPaste}
        onKeyDown={onKeyDown}
      />
      <div className="composer-foot">
        <div className="composer-chosen">
          <AttachButton onFiles={(files) => void attaching.attach(files)} />
          <ModeSelector id={id} />
          {id !== null && <ElevationChip id={id} />}
          <ModelMenu id={id} />
          {id !== null && <TokenChip id={id} />}
        </div>
        <span className="composer-do">
          {isTurnOpen && (
            <IconButton
              icon="stop"
              kind={isEmpty ? "primary" : []}
              extraClass={isEmpty ? "composer-send" : ""}
              label={t("stop")}
              whyNot={isStopping ? t("stopping") : null}
              onClick={stop}
            />
          )}
          {!(isTurnOpen && isEmpty) && (
            <IconButton
              kind="primary"
              icon="send"
              extraClass="composer-send"
              label={t(isTurnOpen ? "queue" : "send", { keys })}
              whyNot={whyNot}
              onClick={send}
            />
          )}
        </span>
      </div>
      {attaching.isOver && <p className="composer-drop">{t("drop")}</p>}
    </form>
  );
}

/** Letters that nothing takes are written into the box. */
function useLettersTypedNowhere(box: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => isTypedNowhere(event) && box.current?.focus();
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [box]);
}

function howToSend(state: State, id: string | null): "now" | "later" | "offline" | "loading" | "gone" {
  if (!isConnected(state)) return "offline";
  if (id === null) return state.session.value === null ? "loading" : "now"; // which mode it would have is not known yet
  const found = canSend(state, id);
  if (found !== "no") return found;
  return state.contexts[id]?.isGone === true ? "gone" : "loading";
}
