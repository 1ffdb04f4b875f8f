/** What a switch of the mode did to the calls that waited, told to who switched. */
import type { Language } from "../../i18n/say";
import { sayWord } from "../../i18n/words";
import type { Answer } from "../../store/commands";
import { notify } from "../../ui/Notices";

const WORDS = {
  started: ["{n} {n|call|calls} started by the switch.", "切换后有 {n} 个调用已开始。"],
  rejected: ["{n} {n|call|calls} rejected by the switch.", "切换后有 {n} 个调用被拒绝。"],
} as const;

export function tellOutcome(answer: Answer, language: Language): void {
  if (answer.kind !== "switched") return;
  const told = (["started", "rejected"] as const).flatMap((name) => {
    const n = answer.outcome[name]?.length ?? 0;
    return n > 0 ? [sayWord(WORDS[name], language, { n })] : [];
  });
  if (told.length > 0) notify(told.join(" "));
}
