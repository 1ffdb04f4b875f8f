/** A message of the user with text, files and images, also while it is being sent. */
import type { ReactNode } from "react";
import type { Message } from "../../../api/types";
import { useAtom } from "../../../app/atom";
import { useLanguage, useSelector } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { editBlockedReason } from "../../../store/selectors";
import type { Outgoing } from "../../../store/state";
import { IconButton } from "../../../ui/Button";
import { timeOf } from "../../../ui/timeFormat";
import { CopyIconButton } from "../CopyIconButton";
import { messageEdit } from "../messageEdit";
import { SystemNotice } from "../SystemNotice";
import { FileChips, filesOf } from "./FileChips";
import { displayTextOf, isUserMessage, textOf } from "./payloads";
import { UserMessageEditor } from "./UserMessageEditor";
import { UserMessageText } from "./UserMessageText";
import { DeliveryStatus } from "./DeliveryStatus";
import "./user-message.css";

interface Props {
  messages: readonly Message[];
  context: string;
  /** The switch to other versions of the message, if it has any. */
  versions: ReactNode;
}

export function UserMessage({ messages, context, versions }: Props) {
  const t = useTexts("chat");
  const language = useLanguage();
  const edit = useAtom(messageEdit);
  const [first] = messages;
  if (first === undefined) return null;
  if (!isUserMessage(messages))
    return (
      <>
        <SystemNotice message={first} />
        {versions}
      </>
    );
  const id = first.message_id;
  const text = displayTextOf(messages);
  if (edit !== null && edit.context === context && edit.id === id) {
    return (
      <article className="user-message" aria-label={t("you")}>
        <UserMessageEditor messages={messages} edit={edit} />
      </article>
    );
  }
  return (
    <article className="user-message" aria-label={t("you")}>
      <div className="user-message-bubble">
        {text !== "" && <UserMessageText id={id} text={text} />}
        <FileChips files={filesOf(messages)} context={context} />
      </div>
      <footer className="row-foot">
        {versions}
        {text !== "" && <CopyIconButton text={text} />}
        <EditButton context={context} onEdit={() => messageEdit.set({ context, id, text: textOf(messages) })} />
        <time dateTime={first.timestamp}>{timeOf(first.timestamp, language)}</time>
      </footer>
    </article>
  );
}

function EditButton({ context, onEdit }: { context: string; onEdit(): void }) {
  const t = useTexts("userMessage");
  const disabledReason = useSelector((state) => editBlockedReason(state, context), [context]);
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon="edit"
      label={t("edit")}
      disabledReason={disabledReason === null ? null : t(disabledReason)}
      onClick={onEdit}
    />
  );
}

export function OutgoingMessage({ outgoing }: { outgoing: Outgoing }) {
  const t = useTexts("chat");
  const { command, key } = outgoing;
  if (command.kind !== "send") return null;
  const payloads = command.body.payloads ?? [];
  const text = payloads.flatMap((each) => (each.type === "text" ? [each.display || each.content] : [])).join("\n\n");
  return (
    <article className="user-message is-sending" aria-label={t("you")}>
      <div className="user-message-bubble">
        {text !== "" && <UserMessageText id={key} text={text} />}
        <FileChips files={filesOf(payloads)} />
      </div>
      <DeliveryStatus outgoing={outgoing} />
    </article>
  );
}
