/** Reports that an answer is incomplete, and offers the next step while nothing follows the answer. */
import { useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { canContinue, visibleMessages, editBlockedReason } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { useEditLast } from "./composer/useEditLast";
import { type IncompleteEnding, followUpOf, nextStepAfter } from "./answerEnding";

export function IncompleteAnswerNote({
  id,
  ending,
  context,
}: {
  id: string;
  ending: IncompleteEnding;
  context: string;
}) {
  const t = useTexts("chat");
  const { act } = useAppServices();
  const editLast = useEditLast(context);
  const followUp = useSelector((state) => followUpOf(visibleMessages(state, context).messages, id), [context, id]);
  const mayContinue = useSelector((state) => canContinue(state, context), [context]);
  const reason = useSelector((state) => editBlockedReason(state, context), [context]);
  if (followUp === "error") return null; // the error gives the reason and the next step
  const nextStep = nextStepAfter(ending);
  const continueAnswer = () => {
    if (nextStep === "edit") return editLast();
    if (mayContinue) return act({ kind: "control", id: context, action: "continue" });
    return act({ kind: "send", id: context, body: { payloads: [{ type: "text", content: t("goOn") }] } });
  };
  return (
    <div className="answer-end note warn small">
      <span>{t(ending)}</span>
      {followUp === "nothing" && reason !== "busy" && (
        <Button
          kind="small"
          icon={nextStep === "edit" ? "edit" : "play"}
          disabledReason={reason === null ? null : t(reason)}
          onClick={continueAnswer}
        >
          {t(nextStep === "edit" ? "sayOtherwise" : "continue")}
        </Button>
      )}
    </div>
  );
}
