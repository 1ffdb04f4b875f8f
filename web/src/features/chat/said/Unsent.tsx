/** Under a message that is on its way: that it is, or why it did not arrive and what can be done. */
import { useLanguage, usePage } from "../../../app/page";
import { useWords } from "../../../i18n/words";
import type { Outgoing } from "../../../store/state";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/icons";
import { sayProblem } from "../../../ui/ProblemNote";
import { parse } from "../composer/references";
import type { Payload } from "../composer/sending";
import { type Draft, drafts } from "../drafts";
import { focusBox } from "../editing";
import { WORDS } from "./words";

export function Unsent({ outgoing }: { outgoing: Outgoing }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act, store } = usePage();
  const { command, problem, key } = outgoing;
  if (command.kind !== "send") return null;
  if (problem === null) return <footer className="row-foot">{t("sending")}</footer>;
  const dismiss = () => store.dispatch({ type: "dismissed", key });
  const takeBack = () => {
    dismiss();
    drafts.add(command.id, draftOf(command.body.payloads ?? []));
    focusBox();
  };
  return (
    <div className="note bad unsent" role="alert">
      <Icon name="warning" />
      <span>
        {t("notSent")}. {sayProblem(problem, language)}
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

/** What its text names is named there still; the rest was attached. */
export function draftOf(payloads: readonly Payload[]): Draft {
  const text = payloads.flatMap((each) => (each.type === "text" ? [each.content] : [])).join("\n\n");
  const named = new Set(parse(text).map(({ path }) => path));
  const files = payloads.flatMap((each) => {
    if (each.type !== "image" && each.type !== "file_reference") return [];
    if (each.path == null || (each.type === "file_reference" && named.has(each.path))) return [];
    return [{ path: each.path, size: null, kind: each.type === "image" ? ("image" as const) : ("file" as const) }];
  });
  return { text, files };
}
