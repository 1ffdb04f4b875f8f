/** The questions that the agent has asked, as a form: the oldest first. */
import { useEffect, useRef } from "react";
import { isFocusLost } from "../../app/focusPolicy";
import { useSlice } from "../../app/page";
import { keysOf } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { questions } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { visibleLine } from "../../ui/names";
import { focusBox } from "../chat/editing";
import { questionsOf } from "./answers";
import { answers } from "./kept";
import { QuestionForm } from "./QuestionForm";
import { WORDS } from "./words";
import "./questions.css";

export function Questions({ id }: { id: string }) {
  const t = useWords(WORDS);
  const open = useSlice((state) => questions(state, id), [id]);
  const asked = useSlice(
    (state) => (state.contexts[id]?.shape.value?.open_questions ?? []).map((call) => call.id),
    [id],
  );
  const seen = useRef<readonly string[]>([]);
  const mine = useRef(new Set<string>());
  const hadFocus = useRef(false);
  const [call] = open;

  useEffect(() => {
    const over = seen.current.filter((each) => !asked.includes(each));
    for (const each of over) answers.forget(each);
    if (over.some((each) => !mine.current.has(each))) announce(t("gone"), true);
    seen.current = asked;
  }, [asked.join(" ")]);
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
    else if (hadFocus.current && isFocusLost()) focusBox();
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
        more={open.length - 1}
        onAnswered={() => mine.current.add(call.id)}
      />
    </div>
  );
}
