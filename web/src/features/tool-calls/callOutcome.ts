/** The outcome of a call. A command that exited with an error counts as failed, although it was executed. */
import type { CallView } from "../../api/schema";
import type { Language } from "../../i18n/serverTexts";
import { textsIn } from "../../i18n/texts";
import { visibleName } from "../../ui/safeText";
import { statusText } from "./callText";

export function outcomeOf(call: CallView): CallView["status"] {
  return call.status === "executed" && (call.exit_status ?? 0) !== 0 ? "failed" : call.status;
}

export function outcomeText(call: CallView, language: Language): string {
  const exitStatus = call.exit_status ?? 0;
  if (call.status === "pending" && call.tool === "ask_user") return textsIn(language, "callOutcome")("needsAnswer");
  return exitStatus === 0
    ? statusText(call.status, language)
    : textsIn(language, "callOutcome")("exited", { n: exitStatus });
}

/** The decision about a call and its author, in words. */
export function decisionText(call: CallView, language: Language, user: string | null = null): string {
  const outcome = outcomeText(call, language);
  const t = textsIn(language, "callOutcome");
  if (call.decided_by == null) return outcome;
  return call.decided_by === user
    ? t("decidedByYou", { outcome })
    : t("decidedBy", { outcome, by: visibleName(call.decided_by) });
}
