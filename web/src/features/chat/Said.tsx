/** What the person said: text, files, images; also while it is on its way. */
import type { Message } from "../../api/types";
import { useLanguage, usePage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import type { Outgoing } from "../../store/state";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { sayProblem } from "../../ui/ProblemNote";
import { visibleName, visibleText } from "../../ui/names";
import { timeOf } from "../../ui/times";
import { CopyButton } from "./CopyButton";
import { WORDS } from "./words";

export function Said({ messages }: { messages: readonly Message[]; context: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const text = messages.flatMap((message) => (message.type === "text" ? [shownText(message)] : [])).join("\n\n");
  const first = messages[0];
  return (
    <article className="said" aria-label={t("you")}>
      <div className="said-bubble">
        {text !== "" && <p className="said-text">{text}</p>}
        {messages.some((message) => message.type !== "text") && (
          <ul className="said-files">
            {messages.map((message) => message.type !== "text" && <li key={message.message_id}>{attachmentOf(message, language)}</li>)}
          </ul>
        )}
      </div>
      <footer className="row-foot">
        {first !== undefined && <time dateTime={first.timestamp}>{timeOf(first.timestamp, language)}</time>}
        {text !== "" && <CopyButton text={text} />}
      </footer>
    </article>
  );
}

function shownText(message: Extract<Message, { type: "text" }>): string {
  return visibleText(message.metadata?.display_text ?? message.content);
}

function attachmentOf(message: Message, language: "en" | "zh") {
  if (message.type !== "file_reference" && message.type !== "image") return message.type;
  const name = message.path ?? (message.type === "image" ? (message.url ?? message.media_type ?? "") : "");
  const range = message.type === "file_reference" ? rangeOf(message.range ?? null) : "";
  return (
    <span className={message.error != null ? "chip bad" : "chip"} title={message.error != null ? say(message.error, language) : undefined}>
      <Icon name={message.type === "image" ? "image" : "file"} size={14} />
      {visibleName(name)}
      {range}
      {message.error != null && <span className="chip-note">{say(message.error, language)}</span>}
    </span>
  );
}

function rangeOf(range: { start_line?: number | null; end_line?: number | null } | null): string {
  if (range === null) return "";
  return `:${range.start_line ?? 1}${range.end_line != null && range.end_line !== range.start_line ? `-${range.end_line}` : ""}`;
}

export function Sending({ outgoing }: { outgoing: Outgoing }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act, store } = usePage();
  const { command, problem, key } = outgoing;
  if (command.kind !== "send") return null;
  const payloads = [...(command.body.payloads ?? []), ...(command.body.payload == null ? [] : [command.body.payload])];
  const text = payloads.flatMap((each) => (each.type === "text" ? [each.content] : [])).join("\n\n");
  const dismiss = () => store.dispatch({ type: "dismissed", key });
  return (
    <article className="said is-sending" aria-label={t("you")}>
      <div className="said-bubble">
        <p className="said-text">{visibleText(text)}</p>
      </div>
      {problem === null ? (
        <footer className="row-foot">{t("sending")}</footer>
      ) : (
        <div className="note bad">
          <Icon name="warning" />
          <span>
            {t("notSent")}. {sayProblem(problem, language)}
          </span>
          <Button kind="small" onClick={() => (dismiss(), act(command))}>
            {t("sendAgain")}
          </Button>
          <Button kind={["small", "quiet"]} onClick={dismiss}>
            {t("discard")}
          </Button>
        </div>
      )}
    </article>
  );
}
