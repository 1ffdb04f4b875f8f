/** Shows a notice about the calls that a mode switch has started or rejected. */
import type { Language } from "../../i18n/serverTexts";
import { textsIn } from "../../i18n/texts";
import type { Answer } from "../../store/commands";
import { notify } from "../../ui/Notices";

export function notifySwitchOutcome(answer: Answer, language: Language): void {
  if (answer.kind !== "switched") return;
  const notices = (["started", "rejected"] as const).flatMap((name) => {
    const n = answer.outcome[name]?.length ?? 0;
    return n > 0 ? [textsIn(language, "switchNotice")(name, { n })] : [];
  });
  if (notices.length > 0) notify(notices.join(" "));
}
