/** What became of a call: a command that ended with an error has failed, though it was run. */
import type { CallView } from "../../api/schema";
import type { Language } from "../../i18n/say";
import { textsIn } from "../../i18n/texts";
import { visibleName } from "../../ui/safeText";
import { statusText } from "./callText";

export function outcomeOf(call: CallView): CallView["status"] {
  return call.status === "executed" && (call.exit_status ?? 0) !== 0 ? "failed" : call.status;
}

export function outcomeText(call: CallView, language: Language): string {
  const exit = call.exit_status ?? 0;
  if (call.status === "pending" && call.tool === "ask_user") return textsIn(language, "callOutcome")("needsAnswer");
  return exit === 0 ? statusText(call.status, language) : textsIn(language, "callOutcome")("exited", { n: exit });
}

/** What was decided about a call, and by whom. */
export function decisionText(call: CallView, language: Language, user: string | null = null): string {
  const outcome = outcomeText(call, language);
  const t = textsIn(language, "callOutcome");
  if (call.decided_by == null) return outcome;
  return call.decided_by === user
    ? t("decidedByYou", { outcome })
    : t("decidedBy", { outcome, by: visibleName(call.decided_by) });
}
