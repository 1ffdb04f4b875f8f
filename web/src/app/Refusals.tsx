/** What the server did not do although it was asked to: told once, and then forgotten. A message stays where it was, and
 * what was decided or preferred is told in its place; so is a conversation that is gone. */
import { useEffect } from "react";
import type { Problem } from "../api/schema";
import type { Command } from "../store/commands";
import { notify } from "../ui/Notices";
import { sayProblem } from "../ui/ProblemNote";
import { useLanguage, usePage, useSlice } from "./page";

function isToldElsewhere({ kind }: Command, { status }: Problem): boolean {
  return ["send", "decide", "preferences"].includes(kind) || (kind === "activate" && status === 404);
}

export function Refusals() {
  const { store } = usePage();
  const language = useLanguage();
  const refused = useSlice((state) =>
    Object.values(state.outgoing).filter(
      ({ command, problem }) => problem !== null && !isToldElsewhere(command, problem),
    ),
  );
  useEffect(() => {
    for (const { key, problem } of refused) {
      if (problem !== null) notify(sayProblem(problem, language), true);
      store.dispatch({ type: "dismissed", key });
    }
  }, [refused, language, store]);
  return null;
}
