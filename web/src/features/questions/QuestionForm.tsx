/** The form for the questions of one call. An answer is sent only if the user has filled it in or declined here. */
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import type { CallView } from "../../api/schema";
import { ServerError } from "../../api/types";
import { useAtom } from "../../app/atom";
import { useAction, useAppServices, useSelector } from "../../app/appServices";
import { isComposing, keysOf, useShortcut } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { isConnected } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { composerActionForKey, isTouch, sendKeysAtom } from "../chat/composer/composerKeys";
import { focusComposer } from "../chat/messageEdit";
import { type FieldValue, EMPTY_VALUE, answerOf, parseStoredValues, questionsOf } from "./formValues";
import { QuestionField } from "./QuestionField";
import { storedAnswers } from "./storedAnswers";

/** The composer state that `composerActionForKey` assumes for a field of the form. */
const FIELD_STATE = { suggestionCount: null, isEmpty: false, isRunning: false } as const;

interface Props {
  context: string;
  call: CallView;
  /** The number of further calls with questions. */
  queuedForms: number;
  onAnswered(): void;
}

export function QuestionForm({ context, call, queuedForms, onAnswered }: Props) {
  const t = useTexts("questions");
  const { act, api } = useAppServices();
  const isOnline = useSelector(isConnected);
  const sendKeys = useAtom(sendKeysAtom);
  const action = useAction();
  const titleId = useId();
  const frame = useRef<HTMLFormElement>(null);
  const questions = questionsOf(call.arguments);
  const [values, setValues] = useState(() => parseStoredValues(storedAnswers.read(call.id), questions.length));
  const answerTexts = questions.map((question, index) => answerOf(question, values[index] ?? EMPTY_VALUE));
  const unansweredCount = answerTexts.filter((each) => each === "").length;
  const disabledReason = !isOnline
    ? t("offline")
    : action.isBusy
      ? t("declining")
      : unansweredCount === answerTexts.length
        ? t("empty")
        : null;
  useShortcut("approval.focus", () => frame.current?.querySelector<HTMLElement>("textarea, input")?.focus());

  const change = (index: number, to: FieldValue) => {
    const next = values.map((each, other) => (other === index ? to : each));
    setValues(next);
    storedAnswers.write(call.id, JSON.stringify(next));
  };
  const send = () => {
    if (disabledReason !== null) return;
    onAnswered();
    act({ kind: "answer", id: context, body: { answers: answerTexts, call_id: call.id } });
  };
  /** Moves the focus to the first unanswered question, or sends the answers if there is none. */
  const next = () => {
    const index = answerTexts.indexOf("");
    if (index < 0) send();
    else frame.current?.querySelectorAll("fieldset")[index]?.querySelector<HTMLElement>("textarea, input")?.focus();
  };
  const decline = () =>
    action.run(async () => {
      onAnswered();
      const path = { context_id: context };
      try {
        await api("POST /api/contexts/{context_id}/answers", { path, body: { decline: true, call_id: call.id } });
      } catch (error) {
        // Only questions of a running tool can be declined. The agent's own questions are answered with a text that
        // declines.
        if (!(error instanceof ServerError) || error.problem.code !== "no_question") throw error;
        const words = questions.map(() => t("declined"));
        await api("POST /api/contexts/{context_id}/answers", { path, body: { answers: words, call_id: call.id } });
      }
    });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent) || event.defaultPrevented) return;
    const isInText = event.target instanceof HTMLTextAreaElement;
    if (event.key === "Escape") focusComposer();
    else if (
      isInText &&
      composerActionForKey(event.nativeEvent, { ...FIELD_STATE, isTouch: isTouch(), sendKeys }) === "send"
    )
      next();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form
      ref={frame}
      className="questions"
      tabIndex={-1}
      aria-labelledby={titleId}
      onSubmit={onSubmit}
      onKeyDown={onKeyDown}
    >
      <header className="questions-head">
        <h2 id={titleId} className="questions-title">
          <Icon name="question" /> {t("title")}
        </h2>
        <span className="questions-reach soft small">{t("reach", { keys: keysOf("approval.focus") })}</span>
      </header>
      <div className="questions-fields">
        {questions.map((question, index) => (
          <QuestionField
            key={index}
            question={question}
            value={values[index] ?? EMPTY_VALUE}
            onChange={(to) => change(index, to)}
          />
        ))}
      </div>
      <ProblemNote problem={action.problem} />
      <footer className="questions-foot">
        <span className="soft small">
          {[
            ...(queuedForms > 0 ? [t("more", { n: queuedForms })] : []),
            ...(questions.length > 1 && unansweredCount > 0 && unansweredCount < questions.length
              ? [t("open", { n: unansweredCount })]
              : []),
          ].join(" · ")}
        </span>
        <Button
          kind="quiet"
          disabledReason={isOnline ? (action.isBusy ? t("declining") : null) : t("offline")}
          onClick={() => void decline()}
        >
          {t("decline")}
        </Button>
        <Button kind="primary" type="submit" disabledReason={disabledReason}>
          {t("answer")}
        </Button>
      </footer>
    </form>
  );
}
