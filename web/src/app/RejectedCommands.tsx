/**
 * Shows one notice for each command that the server has rejected. Rejected messages, decisions and preferences, and
 * deleted conversations, are reported in their own place.
 */
import { useEffect, useRef } from "react";
import type { Problem } from "../api/schema";
import { useModeTitle } from "../features/modes/useModes";
import type { Language } from "../i18n/serverTexts";
import { textsIn } from "../i18n/texts";
import type { Command } from "../store/commands";
import type { State } from "../store/state";
import { notify } from "../ui/Notices";
import { translateProblem } from "../ui/ProblemNote";
import { useLanguage, useAppServices, useSelector } from "./appServices";

function isShownElsewhere({ kind }: Command, { status }: Problem): boolean {
  return ["send", "decide", "preferences"].includes(kind) || (kind === "activate" && status === 404);
}

/**
 * The interface shows a new mode before the server confirms it: after a rejection, the notice names the actual mode.
 */
function noticeText(why: string, mode: string | null, language: Language): string {
  return mode === null ? why : textsIn(language, "problems")("modeStays", { mode, why });
}

/** The server's mode, for a mode command. */
function serverMode(command: Command, state: State): string | null {
  return command.kind === "mode" ? (state.contexts[command.id]?.view.value?.mode ?? null) : null;
}

export function RejectedCommands() {
  const { store } = useAppServices();
  const language = useLanguage();
  const latestTitle = useRef<(name: string) => string>(String);
  latestTitle.current = useModeTitle();
  const refused = useSelector((state) =>
    Object.values(state.outgoing).filter(
      ({ command, problem }) => problem !== null && !isShownElsewhere(command, problem),
    ),
  );
  useEffect(() => {
    for (const { key, command, problem } of refused) {
      const mode = serverMode(command, store.getSnapshot());
      const title = mode === null ? null : latestTitle.current(mode);
      if (problem !== null) notify(noticeText(translateProblem(problem, language), title, language), true);
      store.dispatch({ type: "dismissed", key });
    }
  }, [refused, language, store]);
  return null;
}
