/** What the server did not do although it was asked to: told once, and then forgotten. A message stays where it was, and
 * what was decided or preferred is told in its place; so is a conversation that is gone. */
import { useEffect, useRef } from "react";
import type { Problem } from "../api/schema";
import { useModeTitle } from "../features/modes/useModes";
import type { Language } from "../i18n/say";
import { sayWord } from "../i18n/words";
import type { Command } from "../store/commands";
import type { State } from "../store/state";
import { notify } from "../ui/Notices";
import { sayProblem } from "../ui/ProblemNote";
import { useLanguage, usePage, useSlice } from "./page";

function isToldElsewhere({ kind }: Command, { status }: Problem): boolean {
  return ["send", "decide", "preferences"].includes(kind) || (kind === "activate" && status === 404);
}

const WORDS = {
  modeStays: ["The mode is still {mode}: {why}", "模式仍为{mode}：{why}"],
} as const;

/** A switch of the mode shows at once: where it is refused, the mode that counts is named. */
function wordsOf(why: string, mode: string | null, language: Language): string {
  return mode === null ? why : sayWord(WORDS.modeStays, language, { mode, why });
}

/** The mode of the server, where a command was about it. */
function serverMode(command: Command, state: State): string | null {
  return command.kind === "mode" ? (state.contexts[command.id]?.shape.value?.mode ?? null) : null;
}

export function Refusals() {
  const { store } = usePage();
  const language = useLanguage();
  const latestTitle = useRef<(name: string) => string>(String);
  latestTitle.current = useModeTitle();
  const refused = useSlice((state) =>
    Object.values(state.outgoing).filter(
      ({ command, problem }) => problem !== null && !isToldElsewhere(command, problem),
    ),
  );
  useEffect(() => {
    for (const { key, command, problem } of refused) {
      const mode = serverMode(command, store.getSnapshot());
      const title = mode === null ? null : latestTitle.current(mode);
      if (problem !== null) notify(wordsOf(sayProblem(problem, language), title, language), true);
      store.dispatch({ type: "dismissed", key });
    }
  }, [refused, language, store]);
  return null;
}
