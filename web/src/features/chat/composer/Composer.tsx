/** The composer: edits the draft of a conversation, sends it, and stops the turn. */
import { type KeyboardEvent as ReactKeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { Problem } from "../../../api/schema";
import { problemOfError } from "../../../api/types";
import { useAtom } from "../../../app/atom";
import { GRACE_MS, isTypedOutsideFields } from "../../../app/focusPolicy";
import { useAction, useAppServices, useSelector } from "../../../app/appServices";
import { isComposing, formatKeys, useShortcut } from "../../../app/shortcuts";
import { useTexts } from "../../../i18n/texts";
import { canSend, isBusy, isConnected, isStopping as isTurnStopping } from "../../../store/selectors";
import type { State } from "../../../store/state";
import { IconButton } from "../../../ui/Button";
import { notify } from "../../../ui/Notices";
import { ProblemNote } from "../../../ui/ProblemNote";
import { ElevationChip } from "../../modes/ElevationChip";
import { ModeSelector, useMode } from "../../modes/ModeSelector";
import { ModelMenu } from "../../models/ModelMenu";
import { TokenChip } from "../../window/TokenChip";
import { AttachButton } from "./AttachButton";
import { AttachmentChips } from "./AttachmentChips";
import { FileSuggestions } from "./FileSuggestions";
import { composerActionForKey, isTouch, sendKeysAtom } from "./composerKeys";
import { useEnsureContext, useSendDraft } from "./draftSubmission";
import { uploads } from "./uploads";
import { useAttachments } from "./useAttachments";
import { useEditLast } from "./useEditLast";
import { useFileSuggestions } from "./useFileSuggestions";
import { useAutoGrow } from "./useAutoGrow";
import { drafts, useDraft } from "../drafts";
import { COMPOSER_ID } from "../messageEdit";
import "./composer.css";

export function Composer({ id }: { id: string | null }) {
  const t = useTexts("composer");
  const { act, environment } = useAppServices();
  const draft = useDraft(id);
  const { mode } = useMode(id);
  const sendState = useSelector((state) => sendStateOf(state, id), [id]);
  const isRunning = useSelector((state) => id !== null && isBusy(state, id), [id]);
  const isStopping = useSelector((state) => id !== null && isTurnStopping(state, id), [id]);
  const currentUploads = useAtom(uploads).filter((each) => each.context === id);
  const sendKeys = useAtom(sendKeysAtom);
  const textarea = useRef<HTMLTextAreaElement>(null);
  const sendAction = useAction();
  const sendDraft = useSendDraft(id);
  const getOrCreateContext = useEnsureContext(id);
  const [problem, setProblem] = useState<Problem | null>(null);
  const ensureContext = () =>
    getOrCreateContext()
      .then((contextId) => (setProblem(null), contextId))
      .catch((error: unknown) => (setProblem(problemOfError(error)), null));
  const suggestions = useFileSuggestions(id, textarea, ensureContext);
  const attachments = useAttachments(ensureContext, {
    attached: (text) => notify(t("longText", { n: text.length.toLocaleString() })),
    failed: (text) => drafts.append(id, { text, files: [] }),
  });
  const editLast = useEditLast(id);
  useShortcut("composer.focus", () => textarea.current?.focus());
  useStrayLetters(textarea);
  const focusedAt = useRef(-Infinity);
  useAutoGrow(textarea, draft.text);
  useEffect(() => {
    // Problems and suggestions belong to the previous conversation.
    sendAction.clearProblem();
    setProblem(null);
    suggestions.hide();
  }, [id]);

  const isEmpty = draft.text.trim() === "" && draft.files.length === 0;
  const disabledReason =
    sendState === "offline" || sendState === "loading" || sendState === "gone"
      ? t(sendState)
      : currentUploads.some((each) => each.problem !== null)
        ? t("notUploaded")
        : currentUploads.length > 0
          ? t("uploading")
          : isEmpty
            ? t("empty")
            : null;
  const send = () => {
    if (disabledReason === null) void sendAction.run(() => sendDraft(drafts.read(id)));
    if (!isTouch()) textarea.current?.focus();
  };
  const stop = () => {
    if (id !== null && !isStopping) act({ kind: "control", id, action: "cancel" });
  };
  const onKeyDown = (event: ReactKeyboardEvent) => {
    const suggestionCount = suggestions.items?.length ?? null;
    const { nativeEvent } = event;
    const action = composerActionForKey(nativeEvent, {
      suggestionCount,
      isEmpty: draft.text === "",
      isRunning: isRunning && sendState !== "offline" && environment.now() - focusedAt.current >= GRACE_MS,
      isTouch: isTouch(),
      sendKeys,
    });
    if (action === null && event.key === ":" && !isComposing(nativeEvent) && suggestions.takesColon())
      return event.preventDefault();
    if (action === null) return;
    event.preventDefault();
    if (action === "send") send();
    else if (action === "stop") stop();
    else if (action === "edit_last") editLast();
    else if (action === "list_up" || action === "list_down") suggestions.move(action === "list_up" ? -1 : 1);
    else if (action === "list_choose") suggestions.choose(suggestions.selectedIndex);
    else if (action === "list_close") suggestions.close();
  };
  const isTurnOpen = sendState === "later";
  const keys = isTouch() ? "" : t(sendKeys, { mod: formatKeys("Mod+") });
  return (
    <form
      className={`composer ${attachments.isDraggedOver ? "is-over" : ""}`}
      data-mode={mode ?? undefined}
      onSubmit={(event) => (event.preventDefault(), send())}
    >
      <FileSuggestions suggestions={suggestions} />
      <AttachmentChips id={id} />
      <ProblemNote problem={sendAction.problem ?? problem} />
      <textarea
        ref={textarea}
        id={COMPOSER_ID}
        rows={1}
        value={draft.text}
        aria-label={t("box")}
        aria-autocomplete="list"
        aria-controls={suggestions.items === null ? undefined : suggestions.listId}
        aria-activedescendant={
          suggestions.items !== null && suggestions.items.length > 0
            ? suggestions.optionId(suggestions.selectedIndex)
            : undefined
        }
        placeholder={t(isTurnOpen ? "placeholderLater" : "placeholder")}
        onChange={(event) => {
          drafts.write(id, { text: event.target.value });
          if (!(event.nativeEvent instanceof InputEvent && event.nativeEvent.isComposing)) suggestions.update();
        }}
        onCompositionEnd={suggestions.update}
        onFocus={() => (focusedAt.current = environment.now())}
        onBlur={suggestions.hide}
        onPaste={attachments.onPaste}
        onKeyDown={onKeyDown}
      />
      <div className="composer-foot">
        <div className="composer-settings">
          <AttachButton onFiles={(files) => void attachments.attach(files)} />
          <ModeSelector id={id} />
          {id !== null && <ElevationChip id={id} />}
          <ModelMenu id={id} />
          {id !== null && <TokenChip id={id} />}
        </div>
        <span className="composer-actions">
          {isTurnOpen && (
            <IconButton
              icon="stop"
              kind={isEmpty ? "primary" : []}
              extraClass={isEmpty ? "composer-send" : ""}
              label={t("stop")}
              disabledReason={isStopping ? t("stopping") : null}
              onClick={stop}
            />
          )}
          {!(isTurnOpen && isEmpty) && (
            <IconButton
              kind="primary"
              icon="send"
              extraClass="composer-send"
              label={t(isTurnOpen ? "queue" : "send", { keys })}
              disabledReason={disabledReason}
              onClick={send}
            />
          )}
        </span>
      </div>
      {attachments.isDraggedOver && <p className="composer-drop">{t("drop")}</p>}
    </form>
  );
}

/** Focuses the composer when a character is typed outside of any text field. */
function useStrayLetters(textarea: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => isTypedOutsideFields(event) && textarea.current?.focus();
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [textarea]);
}

function sendStateOf(state: State, id: string | null): "now" | "later" | "offline" | "loading" | "gone" {
  if (!isConnected(state)) return "offline";
  if (id === null) return state.session.value === null ? "loading" : "now"; // the default mode is not known yet
  const availability = canSend(state, id);
  if (availability !== "no") return availability;
  return state.contexts[id]?.isGone === true ? "gone" : "loading";
}
