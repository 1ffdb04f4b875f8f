/** What the model said, and the calls that it asked for. */
import { useLanguage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { visibleName } from "../../ui/names";
import { timeOf } from "../../ui/times";
import { Calls } from "../approvals/Calls";
import { AnswerEnd } from "./AnswerEnd";
import { CopyButton } from "./CopyButton";
import { endingOf } from "./ending";
import { Markdown } from "./markdown/Markdown";
import { useMarkdownWords } from "./markdownWords";
import type { AnswerRow } from "./rows";
import { WORDS } from "./words";

export function Answer({ row, context }: { row: AnswerRow; context: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const markdown = useMarkdownWords();
  const { message } = row;
  const ending = endingOf(message);
  return (
    <article className="answer" aria-label={t("agent")}>
      {row.text !== "" && <Markdown text={row.text} isStreaming={row.isWriting} {...markdown} />}
      {ending !== null && <AnswerEnd id={row.id} ending={ending} context={context} />}
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
