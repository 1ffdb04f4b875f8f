/** Shows the problem of a failed action next to its control. */
import { MODE_NOT_SWITCHED } from "../api/modeSwitches";
import type { Problem } from "../api/schema";
import { useLanguage } from "../app/appServices";
import type { Language } from "../i18n/serverTexts";
import { textsIn } from "../i18n/texts";
import { ForeignText } from "./ForeignText";
import { Icon } from "./icons";
import { exactText } from "./safeText";

/** Problems that arise in the web client and have a text of their own. */
const CLIENT_PROBLEMS: Readonly<Record<string, "lost" | "notSwitched">> = {
  connection_lost: "lost",
  [MODE_NOT_SWITCHED]: "notSwitched",
};

/** The text of a problem: the server's own text, or ours if the problem did not come from the server. */
export function translateProblem(problem: Problem, language: Language): string {
  if (problem.detail !== "") return exactText(problem.detail);
  return textsIn(language, "problems")(CLIENT_PROBLEMS[problem.code] ?? "unknown");
}

export function ProblemNote({ problem }: { problem: Problem | null }) {
  const language = useLanguage();
  if (problem === null) return null;
  return (
    <p className="note bad" role="alert">
      <Icon name="warning" />
      <span>
        <ForeignText text={translateProblem(problem, language)} />
      </span>
    </p>
  );
}
