/** The open questions as a form, oldest call first. */
import { useEffect, useRef } from "react";
import { isFocusLost } from "../../app/focusPolicy";
import { useSelector } from "../../app/appServices";
import { keysOf } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { openQuestions } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { visibleLine } from "../../ui/safeText";
import { focusComposer } from "../chat/messageEdit";
import { questionsOf } from "./formValues";
import { storedAnswers } from "./storedAnswers";
import { QuestionForm } from "./QuestionForm";
import "./questions.css";

export function Questions({ id }: { id: string }) {
  const t = useTexts("questions");
  const openCalls = useSelector((state) => openQuestions(state, id), [id]);
  const openIds = useSelector(
    (state) => (state.contexts[id]?.view.value?.open_questions ?? []).map((call) => call.id),
    [id],
  );
  const previousIds = useRef<readonly string[]>([]);
  const answeredHere = useRef(new Set<string>());
  const hadFocus = useRef(false);
  const [call] = openCalls;

  useEffect(() => {
    const closedIds = previousIds.current.filter((each) => !openIds.includes(each));
    for (const each of closedIds) storedAnswers.forget(each);
    if (closedIds.some((each) => !answeredHere.current.has(each))) announce(t("gone"), true);
    previousIds.current = openIds;
  }, [openIds.join(" ")]);
  useEffect(() => {
    const list = call === undefined ? [] : questionsOf(call.arguments);
    const [first] = list;
    const keys = keysOf("approval.focus");
    if (first !== undefined)
      announce(
        list.length === 1
          ? t("one", { question: visibleLine(first.question), keys })
          : t("many", { n: list.length, keys }),
        true,
      );
    else if (hadFocus.current && isFocusLost()) focusComposer();
    hadFocus.current = false;
  }, [call?.id]);

  if (call === undefined) return null;
  return (
    <div
      className="questions-place"
      onFocus={() => (hadFocus.current = true)}
      onBlur={(event) => (hadFocus.current = event.relatedTarget === null)}
    >
      <QuestionForm
        key={call.id}
        context={id}
        call={call}
        queuedForms={openCalls.length - 1}
        onAnswered={() => answeredHere.current.add(call.id)}
      />
    </div>
  );
}
