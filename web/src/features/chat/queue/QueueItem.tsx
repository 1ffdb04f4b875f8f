/** A queued message, which can be edited, removed or sent at once. */
import type { QueuedMessage } from "../../../api/schema";
import { useAtom } from "../../../app/atom";
import { type Action, useAction, useAppServices, useSelector } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { isConnected } from "../../../store/selectors";
import { Button, IconButton } from "../../../ui/Button";
import { ProblemNote } from "../../../ui/ProblemNote";
import { existingReferences } from "../composer/draftSubmission";
import { messageEdit } from "../messageEdit";
import { FileChips, filesOf } from "../user-message/FileChips";
import { carriedOver, displayTextOf, editedPayloads, payloadsOf } from "../user-message/payloads";
import { MessageEditor } from "../user-message/MessageEditor";
import { UserMessageText } from "../user-message/UserMessageText";

interface Props {
  context: string;
  queued: QueuedMessage;
  isTurnOpen: boolean;
}

export function QueueItem({ context, queued, isTurnOpen }: Props) {
  const t = useTexts("queue");
  const { api } = useAppServices();
  const action = useAction();
  const sendNow = useSendNow(action);
  const isOnline = useSelector(isConnected);
  const edit = useAtom(messageEdit);
  const { item, messages } = queued;
  const isEditing = edit !== null && edit.context === context && edit.id === item.id;
  const text = displayTextOf(messages);
  const disabledReason = !isOnline ? t("offline") : action.isBusy ? t("busy") : null;
  const path = { context_id: context, message_id: item.id };
  const remove = () => action.run(() => api("DELETE /api/contexts/{context_id}/queue/{message_id}", { path }));
  const save = async (newText: string) => {
    const payloads = editedPayloads(messages, newText, await existingReferences(api, context, newText));
    await api("PATCH /api/contexts/{context_id}/queue/{message_id}", {
      path,
      body: { ...carriedOver(messages), payloads },
    });
  };
  return (
    <li className="queue-item">
      {isEditing ? (
        <MessageEditor
          edit={edit}
          label={t("editing")}
          submitLabel={t("save")}
          hasFiles={messages.some((message) => message.type !== "text")}
          disabledReason={isOnline ? null : t("offline")}
          save={save}
        />
      ) : (
        <>
          <div className="queue-words">
            {text !== "" && <UserMessageText id={item.id} text={text} />}
            <FileChips files={filesOf(messages)} />
          </div>
          <div className="queue-buttons">
            <Button
              kind={["small", "quiet"]}
              icon="send"
              disabledReason={disabledReason}
              onClick={() => void sendNow(context, queued, isTurnOpen)}
            >
              {t(isTurnOpen ? "stopAndSend" : "sendNow")}
            </Button>
            <IconButton
              kind={["small", "quiet"]}
              icon="edit"
              label={t("edit")}
              disabledReason={disabledReason}
              onClick={() => messageEdit.set({ context, id: item.id, text })}
            />
            <IconButton
              kind={["small", "quiet"]}
              icon="trash"
              label={t("remove")}
              disabledReason={disabledReason}
              onClick={() => void remove()}
            />
          </div>
        </>
      )}
      <ProblemNote problem={action.problem} />
    </li>
  );
}

/**
 * Sends a queued message now. A stopped turn holds the queue, so the message is removed from the queue and sent as a
 * normal message; the other queued messages follow it. If the removal fails because the message was already taken,
 * nothing is sent.
 */
function useSendNow(action: Action): (context: string, queued: QueuedMessage, isTurnOpen: boolean) => Promise<unknown> {
  const { api, act, switches } = useAppServices();
  return (context, { item, messages }, isTurnOpen) =>
    action.run(async () => {
      await switches.settled(context);
      if (isTurnOpen) await api("POST /api/contexts/{context_id}/cancel", { path: { context_id: context } });
      await api("DELETE /api/contexts/{context_id}/queue/{message_id}", {
        path: { context_id: context, message_id: item.id },
      });
      const body = {
        ...carriedOver(messages),
        payloads: payloadsOf(messages),
        ...(item.mode == null ? {} : { mode: item.mode }),
      };
      act({ kind: "send", id: context, body });
    });
}
