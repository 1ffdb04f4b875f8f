/** What one call asks, with a place for each answer. Nothing is sent that was not filled in or declined here. */
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import type { CallShape } from "../../api/schema";
import { ServerError } from "../../api/types";
import { useCell } from "../../app/cell";
import { useDoing, usePage, useSlice } from "../../app/page";
import { isComposing, keysOf, useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { isConnected } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { boxKeyOf, isTouch, sendKeys } from "../chat/composer/keys";
import { focusBox } from "../chat/editing";
import { type Filled, UNFILLED, answerOf, filledOf, questionsOf } from "./answers";
import { QuestionField } from "./QuestionField";
import { answers } from "./kept";
import { WORDS } from "./words";

/** A field of the form is a box with something in it and nothing around it. */
const BOX = { listed: null, isEmpty: false, isRunning: false } as const;

interface Given {
  context: string;
  call: CallShape;
  /** How many calls ask after this one. */
  more: number;
  onAnswered(): void;
}

export function QuestionForm({ context, call, more, onAnswered }: Given) {
  const t = useWords(WORDS);
  const { act, api } = usePage();
  const isOn = useSlice(isConnected);
  const sendsWith = useCell(sendKeys);
  const doing = useDoing();
  const titleId = useId();
  const frame = useRef<HTMLFormElement>(null);
  const asked = questionsOf(call.arguments);
  const [filled, setFilled] = useState(() => filledOf(answers.read(call.id), asked.length));
  const given = asked.map((question, place) => answerOf(question, filled[place] ?? UNFILLED));
  const open = given.filter((each) => each === "").length;
  const whyNot = !isOn ? t("offline") : doing.isBusy ? t("declining") : open === given.length ? t("empty") : null;
  useShortcut("approval.focus", () => frame.current?.querySelector<HTMLElement>("textarea, input")?.focus());

  const change = (place: number, to: Filled) => {
    const next = filled.map((each, other) => (other === place ? to : each));
    setFilled(next);
    answers.write(call.id, JSON.stringify(next));
  };
  const send = () => {
    if (whyNot !== null) return;
    onAnswered();
    act({ kind: "answer", id: context, body: { answers: given, call_id: call.id } });
  };
  /** Enter goes to what has no answer yet; where all have one, it sends them. */
  const next = () => {
    const place = given.indexOf("");
    if (place < 0) send();
    else frame.current?.querySelectorAll("fieldset")[place]?.querySelector<HTMLElement>("textarea, input")?.focus();
  };
  const decline = () =>
    doing.run(async () => {
      onAnswered();
      const path = { context_id: context };
      try {
        await api("POST /api/contexts/{context_id}/answers", { path, body: { decline: true, call_id: call.id } });
      } catch (error) {
        // Only what a running call asks can be declined as such. The agent itself is told so in words.
        if (!(error instanceof ServerError) || error.problem.code !== "no_question") throw error;
        const words = asked.map(() => t("declined"));
        await api("POST /api/contexts/{context_id}/answers", { path, body: { answers: words, call_id: call.id } });
      }
    });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent) || event.defaultPrevented) return;
    const isInText = event.target instanceof HTMLTextAreaElement;
    if (event.key === "Escape") focusBox();
    else if (isInText && boxKeyOf(event.nativeEvent, { ...BOX, isTouch: isTouch(), sendsWith }) === "send") next();
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
        {asked.map((question, place) => (
          <QuestionField
            key={place}
            question={question}
            filled={filled[place] ?? UNFILLED}
            onChange={(to) => change(place, to)}
          />
        ))}
      </div>
      <ProblemNote problem={doing.problem} />
      <footer className="questions-foot">
        <span className="soft small">
          {[
            ...(more > 0 ? [t("more", { n: more })] : []),
            ...(asked.length > 1 && open > 0 && open < asked.length ? [t("open", { n: open })] : []),
          ].join(" · ")}
        </span>
        <Button
          kind="quiet"
          whyNot={isOn ? (doing.isBusy ? t("declining") : null) : t("offline")}
          onClick={() => void decline()}
        >
          {t("decline")}
        </Button>
        <Button kind="primary" type="submit" whyNot={whyNot}>
          {t("answer")}
        </Button>
      </footer>
    </form>
  );
}
