/**
 * Announces a finished answer to screen readers: its beginning, or the number of its calls. Deltas are not announced.
 */
import { useEffect, useRef } from "react";
import { useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { announce } from "../../ui/Announcer";
import { visibleText } from "../../ui/safeText";
import type { Row } from "./transcript/rows";

const MAX_SPOKEN_CHARACTERS = 200;
const RESTING = "idle";

export function useAnswerAnnouncement(id: string, rows: readonly Row[]): void {
  const t = useTexts("chat");
  const state = useSelector((all) => all.contexts[id]?.view.value?.current_state.type ?? RESTING, [id]);
  const isStreaming = useSelector((all) => Object.keys(all.contexts[id]?.streaming ?? {}).length > 0, [id]);
  const wasBusy = useRef(false);
  const isFinished = state === RESTING && !isStreaming;
  useEffect(() => {
    if (wasBusy.current && isFinished) announce(lastAnswer(rows) ?? t("finished"));
    wasBusy.current = !isFinished;

    function lastAnswer(all: readonly Row[]): string | null {
      const turn = all.slice(all.findLastIndex(({ kind }) => kind === "user") + 1);
      const last = turn.at(-1);
      if (last?.kind === "answer" && last.text !== "") return spokenSummary(last.text);
      const calls = turn.reduce(
        (sum, row) =>
          sum + (row.kind === "answer" && row.message?.type === "tool_request" ? row.message.calls.length : 0),
        0,
      );
      return calls > 0 ? t("finishedCalls", { n: calls }) : null;
    }
  }, [isFinished]); // `rows` is read at the moment the answer finishes
}

/** The beginning of an answer without Markdown syntax. */
export function spokenSummary(text: string): string {
  const plain = visibleText(text.slice(0, 4 * MAX_SPOKEN_CHARACTERS))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[\s|:-]+$/gm, "")
    .replace(/[`*_#>|~]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  if (plain.length <= MAX_SPOKEN_CHARACTERS) return plain;
  return `${plain.slice(0, MAX_SPOKEN_CHARACTERS).replace(/\s\S*$/, "")}…`;
}
