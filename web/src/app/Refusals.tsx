/** What the server did not do although it was asked to: told once, and then forgotten. A message stays where it was, and
 * what was decided or preferred is told in its place. */
import { useEffect } from "react";
import { notify } from "../ui/Notices";
import { sayProblem } from "../ui/ProblemNote";
import { useLanguage, usePage, useSlice } from "./page";

export function Refusals() {
  const { store } = usePage();
  const language = useLanguage();
  const refused = useSlice((state) => Object.values(state.outgoing).filter(({ command, problem }) => problem !== null && !["send", "decide", "preferences"].includes(command.kind)));
  useEffect(() => {
    for (const { key, problem } of refused) {
      if (problem !== null) notify(sayProblem(problem, language), true);
      store.dispatch({ type: "dismissed", key });
    }
  }, [refused, language, store]);
  return null;
}
