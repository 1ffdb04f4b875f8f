/** Says that an answer is not complete, and offers the way on while nothing has followed it. */
import { usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { canContinue, visible, whyNotNow } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { useEditLast } from "./composer/useEditLast";
import { type Ending, afterAnswer, wayOn } from "./ending";
import { WORDS } from "./words";

export function AnswerEnd({ id, ending, context }: { id: string; ending: Ending; context: string }) {
  const t = useWords(WORDS);
  const { act } = usePage();
  const editLast = useEditLast(context);
  const follows = useSlice((state) => afterAnswer(visible(state, context).messages, id), [context, id]);
  const mayContinue = useSlice((state) => canContinue(state, context), [context]);
  const reason = useSlice((state) => whyNotNow(state, context), [context]);
  if (follows === "error") return null; // it says why, and has the way on
  const way = wayOn(ending);
  const goOn = () => {
    if (way === "edit") return editLast();
    if (mayContinue) return act({ kind: "steer", id: context, how: "continue" });
    return act({ kind: "send", id: context, body: { payloads: [{ type: "text", content: t("goOn") }] } });
  };
  return (
    <div className="answer-end note warn small">
      <span>{t(ending)}</span>
      {follows === "nothing" && reason !== "busy" && (
        <Button
          kind="small"
          icon={way === "edit" ? "edit" : "play"}
          whyNot={reason === null ? null : t(reason)}
          onClick={goOn}
        >
          {t(way === "edit" ? "sayOtherwise" : "continue")}
        </Button>
      )}
    </div>
  );
}
