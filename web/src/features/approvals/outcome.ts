/** What became of a call: a command that ended with an error has failed, though it was run. */
import type { CallShape } from "../../api/schema";
import type { Language } from "../../i18n/say";
import { sayWord } from "../../i18n/words";
import { visibleName } from "../../ui/names";
import { statusWords } from "./tools";

const EXITED = ["failed, exit status {n}", "失败，退出状态 {n}"] as const;
const BY = ["{outcome} by {by}", "由 {by} 决定：{outcome}"] as const;

export function outcomeOf(call: CallShape): CallShape["status"] {
  return call.status === "executed" && (call.exit_status ?? 0) !== 0 ? "failed" : call.status;
}

export function outcomeWords(call: CallShape, language: Language): string {
  const exit = call.exit_status ?? 0;
  return exit === 0 ? statusWords(call.status, language) : sayWord(EXITED, language, { n: exit });
}

/** What was decided about a call, and by whom. */
export function decisionWords(call: CallShape, language: Language): string {
  const outcome = outcomeWords(call, language);
  return call.decided_by == null ? outcome : sayWord(BY, language, { outcome, by: visibleName(call.decided_by) });
}
