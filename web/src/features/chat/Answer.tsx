/** An answer of the model with its tool calls. */
import { useLanguage } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { visibleName } from "../../ui/safeText";
import { timeOf } from "../../ui/timeFormat";
import { Calls } from "../tool-calls/CallList";
import { AnswerEnding } from "./AnswerEnding";
import { CopyButton } from "./CopyButton";
import { endingOf } from "./answerEnding";
import { Markdown } from "./markdown/Markdown";
import { useMarkdownWords } from "./markdownWords";
import type { AnswerRow } from "./transcript/rows";

export function Answer({ row, context }: { row: AnswerRow; context: string }) {
  const t = useTexts("chat");
  const language = useLanguage();
  const markdown = useMarkdownWords();
  const { message } = row;
  const ending = endingOf(message);
  return (
    <article className="answer" aria-label={t("agent")}>
      {row.text !== "" && <Markdown text={row.text} isStreaming={row.isStreaming} {...markdown} />}
      {ending !== null && <AnswerEnding id={row.id} ending={ending} context={context} />}
      {message?.type === "tool_request" && <Calls calls={message.calls} results={row.results} context={context} />}
      {message?.type === "text" && (
        <footer className="row-foot">
          <CopyButton text={row.text} />
          <time dateTime={message.timestamp}>{timeOf(message.timestamp, language)}</time>
          {message.metadata?.model != null && <span>{visibleName(message.metadata.model)}</span>}
        </footer>
      )}
    </article>
  );
}
