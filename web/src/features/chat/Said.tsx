/** What the person said: text, files, images; also while it is on its way. */
import type { ReactNode } from "react";
import type { Message } from "../../api/types";
import { useCell } from "../../app/cell";
import { useLanguage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { whyNotNow } from "../../store/selectors";
import type { Outgoing } from "../../store/state";
import { IconButton } from "../../ui/Button";
import { timeOf } from "../../ui/times";
import { CopyButton } from "./CopyButton";
import { editing } from "./editing";
import { Mark } from "./Mark";
import { FileChips, filesOf } from "./said/FileChips";
import { isSaid, textOf } from "./said/payloads";
import { SaidEditor } from "./said/SaidEditor";
import { SaidText } from "./said/SaidText";
import { Unsent } from "./said/Unsent";
import { WORDS as SAID } from "./said/words";
import { WORDS } from "./words";
import "./said.css";

interface Given {
  messages: readonly Message[];
  context: string;
  /** The switch to its other versions, if it has some. */
  versions: ReactNode;
}

export function Said({ messages, context, versions }: Given) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const now = useCell(editing);
  const [first] = messages;
  if (first === undefined) return null;
  if (!isSaid(messages))
    return (
      <>
        <Mark message={first} />
        {versions}
      </>
    );
  const id = first.message_id;
  const text = shownText(messages);
  if (now !== null && now.context === context && now.id === id) {
    return (
      <article className="said" aria-label={t("you")}>
        <SaidEditor messages={messages} now={now} />
      </article>
    );
  }
  return (
    <article className="said" aria-label={t("you")}>
      <div className="said-bubble">
        {text !== "" && <SaidText id={id} text={text} />}
        <FileChips files={filesOf(messages)} context={context} />
      </div>
      <footer className="row-foot">
        {versions}
        {text !== "" && <CopyButton text={textOf(messages)} />}
        <EditButton context={context} onEdit={() => editing.set({ context, id, text: textOf(messages) })} />
        <time dateTime={first.timestamp}>{timeOf(first.timestamp, language)}</time>
      </footer>
    </article>
  );
}

/** As the sender wanted it shown. */
function shownText(messages: readonly Message[]): string {
  return messages
    .flatMap((message) => (message.type === "text" ? [message.metadata?.display_text ?? message.content] : []))
    .join("\n\n");
}

function EditButton({ context, onEdit }: { context: string; onEdit(): void }) {
  const t = useWords(SAID);
  const whyNot = useSlice((state) => whyNotNow(state, context), [context]);
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon="edit"
      label={t("edit")}
      whyNot={whyNot === null ? null : t(whyNot)}
      onClick={onEdit}
    />
  );
}

export function Sending({ outgoing }: { outgoing: Outgoing }) {
  const t = useWords(WORDS);
  const { command, key } = outgoing;
  if (command.kind !== "send") return null;
  const payloads = command.body.payloads ?? [];
  const text = payloads.flatMap((each) => (each.type === "text" ? [each.content] : [])).join("\n\n");
  return (
    <article className="said is-sending" aria-label={t("you")}>
      <div className="said-bubble">
        {text !== "" && <SaidText id={key} text={text} />}
        <FileChips files={filesOf(payloads)} />
      </div>
      <Unsent outgoing={outgoing} />
    </article>
  );
}
