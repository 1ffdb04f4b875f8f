/** Why something did not work, where the person did it. */
import { MODE_NOT_SWITCHED } from "../api/modeSwitches";
import type { Problem } from "../api/schema";
import { useLanguage } from "../app/appServices";
import type { Language } from "../i18n/say";
import { textsIn } from "../i18n/texts";
import { ForeignText } from "./ForeignText";
import { Icon } from "./icons";
import { exactText } from "./safeText";

/** The problems of which only the page knows. */
const OURS: Readonly<Record<string, "lost" | "notSwitched">> = {
  connection_lost: "lost",
  [MODE_NOT_SWITCHED]: "notSwitched",
};

/** The server says it in the person's language; what it never heard of, we say. */
export function sayProblem(problem: Problem, language: Language): string {
  if (problem.detail !== "") return exactText(problem.detail);
  return textsIn(language, "problems")(OURS[problem.code] ?? "unknown");
}

export function ProblemNote({ problem }: { problem: Problem | null }) {
  const language = useLanguage();
  if (problem === null) return null;
  return (
    <p className="note bad" role="alert">
      <Icon name="warning" />
      <span>
        <ForeignText text={sayProblem(problem, language)} />
      </span>
    </p>
  );
}
