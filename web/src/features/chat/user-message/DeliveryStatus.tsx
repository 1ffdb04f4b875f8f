/** The delivery status of an outgoing message: sending, or why it failed and what the user can do. */
import { useLanguage, useAppServices } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import type { Outgoing } from "../../../store/state";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/icons";
import { translateProblem } from "../../../ui/ProblemNote";
import { parseReferences } from "../composer/references";
import type { Payload } from "../composer/draftSubmission";
import { type Draft, drafts } from "../drafts";
import { focusComposer } from "../messageEdit";

export function DeliveryStatus({ outgoing }: { outgoing: Outgoing }) {
  const t = useTexts("userMessage");
  const language = useLanguage();
  const { act, store } = useAppServices();
  const { command, problem, key } = outgoing;
  if (command.kind !== "send") return null;
  if (problem === null) return <footer className="row-foot">{t("sending")}</footer>;
  const dismiss = () => store.dispatch({ type: "dismissed", key });
  const takeBack = () => {
    dismiss();
    drafts.append(command.id, draftOf(command.body.payloads ?? []));
    focusComposer();
  };
  return (
    <div className="note bad delivery-failed" role="alert">
      <Icon name="warning" />
      <span>
        {t("notSent")}. {translateProblem(problem, language)}
      </span>
      <Button kind="small" onClick={() => (dismiss(), act(command))}>
        {t("sendAgain")}
      </Button>
      <Button kind="small" onClick={takeBack}>
        {t("toBox")}
      </Button>
      <Button kind={["small", "quiet"]} onClick={dismiss}>
        {t("discard")}
      </Button>
    </div>
  );
}

/** Converts payloads back to a draft. Files named in the text are not attached again. */
export function draftOf(payloads: readonly Payload[]): Draft {
  const text = payloads.flatMap((each) => (each.type === "text" ? [each.content] : [])).join("\n\n");
  const referencedPaths = new Set(parseReferences(text).map(({ path }) => path));
  const files = payloads.flatMap((each) => {
    if (each.type !== "image" && each.type !== "file_reference") return [];
    if (each.path == null || (each.type === "file_reference" && referencedPaths.has(each.path))) return [];
    return [{ path: each.path, size: null, kind: each.type === "image" ? ("image" as const) : ("file" as const) }];
  });
  return { text, files };
}
