/** Why something did not work, where the person did it. */
import { MODE_NOT_SWITCHED } from "../api/modeSwitches";
import type { Problem } from "../api/schema";
import { useLanguage } from "../app/page";
import type { Language } from "../i18n/say";
import { sayWord } from "../i18n/words";
import { ForeignText } from "./ForeignText";
import { Icon } from "./icons";
import { exactText } from "./names";

const WORDS = {
  lost: ["There was no answer. It may or may not have been done.", "没有收到答复，不确定是否已完成。"],
  notSwitched: [
    "The mode was not switched, so nothing was sent. Look at the mode and try again.",
    "模式未切换，因此没有发送。请查看当前模式后重试。",
  ],
  unknown: ["It did not work.", "操作未成功。"],
} as const;

/** The problems of which only the page knows. */
const OURS: Readonly<Record<string, keyof typeof WORDS>> = {
  connection_lost: "lost",
  [MODE_NOT_SWITCHED]: "notSwitched",
};

/** The server says it in the person's language; what it never heard of, we say. */
export function sayProblem(problem: Problem, language: Language): string {
  if (problem.detail !== "") return exactText(problem.detail);
  return sayWord(WORDS[OURS[problem.code] ?? "unknown"], language);
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
