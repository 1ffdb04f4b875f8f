/** An answer of the model with its tool calls. */
import { useLanguage } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { visibleName } from "../../ui/safeText";
import { timeOf } from "../../ui/timeFormat";
import { CallList } from "../tool-calls/CallList";
import { IncompleteAnswerNote } from "./IncompleteAnswerNote";
import { CopyIconButton } from "./CopyIconButton";
import { endingOf } from "./answerEnding";
import { Markdown } from "./markdown/Markdown";
import { useMarkdownLabels } from "./useMarkdownLabels";
import type { AnswerRow } from "./transcript/rows";

export function Answer({ row, context }: { row: AnswerRow; context: string }) {
  const t = useTexts("chat");
  const language = useLanguage();
  const markdown = useMarkdownLabels();
  const { message } = row;
  const ending = endingOf(message);
  return (
    <article className="answer" aria-label={t("agent")}>
      {row.text !== "" && <Markdown text={row.text} isStreaming={row.isStreaming} {...markdown} />}
      {ending !== null && <IncompleteAnswerNote id={row.id} ending={ending} context={context} />}
      {message?.type === "tool_request" && <CallList calls={message.calls} results={row.results} context={context} />}
      {message?.type === "text" && (
        <footer className="row-foot">
          <CopyIconButton text={row.text} />
          <time dateTime={message.timestamp}>{timeOf(message.timestamp, language)}</time>
          {message.metadata?.model != null && <span>{visibleName(message.metadata.model)}</span>}
        </footer>
      )}
    </article>
  );
}
