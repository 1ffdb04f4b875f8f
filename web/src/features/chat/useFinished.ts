/** Says for screen readers that an answer is finished: how it begins, or how many calls it made. Never each piece. */
import { useEffect, useRef } from "react";
import { useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import { visibleText } from "../../ui/names";
import type { Row } from "./rows";
import { WORDS } from "./words";

const SPOKEN = 200;
const RESTING = "idle";

export function useFinished(id: string, rows: readonly Row[]): void {
  const t = useWords(WORDS);
  const state = useSlice((all) => all.contexts[id]?.shape.value?.current_state.type ?? RESTING, [id]);
  const isWriting = useSlice((all) => Object.keys(all.contexts[id]?.texts ?? {}).length > 0, [id]);
  const wasBusy = useRef(false);
  const isOver = state === RESTING && !isWriting;
  useEffect(() => {
    if (wasBusy.current && isOver) announce(lastAnswer(rows) ?? t("finished"));
    wasBusy.current = !isOver;

    function lastAnswer(all: readonly Row[]): string | null {
      const turn = all.slice(all.findLastIndex(({ kind }) => kind === "said") + 1);
      const last = turn.at(-1);
      if (last?.kind === "answer" && last.text !== "") return beginning(last.text);
      const calls = turn.reduce(
        (sum, row) =>
          sum + (row.kind === "answer" && row.message?.type === "tool_request" ? row.message.calls.length : 0),
        0,
      );
      return calls > 0 ? t("finishedCalls", { n: calls }) : null;
    }
  }, [isOver]); // what was there when it became so
}

/** The first words of an answer, without the signs of Markdown. */
export function beginning(text: string): string {
  const plain = visibleText(text.slice(0, 4 * SPOKEN))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[\s|:-]+$/gm, "")
    .replace(/[`*_#>|~]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  if (plain.length <= SPOKEN) return plain;
  return `${plain.slice(0, SPOKEN).replace(/\s\S*$/, "")}…`;
}
