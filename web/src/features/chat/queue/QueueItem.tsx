/** One message that waits: it can be said otherwise, taken away, or sent at once. */
import type { QueuedMessage } from "../../../api/schema";
import { useCell } from "../../../app/cell";
import { type Doing, useDoing, usePage, useSlice } from "../../../app/page";
import { useWords } from "../../../i18n/words";
import { isConnected } from "../../../store/selectors";
import { Button, IconButton } from "../../../ui/Button";
import { ProblemNote } from "../../../ui/ProblemNote";
import { namedFiles } from "../composer/sending";
import { editing } from "../editing";
import { FileChips, filesOf } from "../said/FileChips";
import { attachedTo, editedPayloads, payloadsOf, textOf } from "../said/payloads";
import { Rewrite } from "../said/Rewrite";
import { SaidText } from "../said/SaidText";
import { WORDS } from "./words";

interface Given {
  context: string;
  queued: QueuedMessage;
  isTurnOpen: boolean;
}

export function QueueItem({ context, queued, isTurnOpen }: Given) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const doing = useDoing();
  const sendNow = useSendNow(doing);
  const isOn = useSlice(isConnected);
  const now = useCell(editing);
  const { item, messages } = queued;
  const isEditing = now !== null && now.context === context && now.id === item.id;
  const text = textOf(messages);
  const whyNot = !isOn ? t("offline") : doing.isBusy ? t("busy") : null;
  const path = { context_id: context, message_id: item.id };
  const remove = () => doing.run(() => api("DELETE /api/contexts/{context_id}/queue/{message_id}", { path }));
  const save = async (words: string) => {
    const payloads = editedPayloads(messages, words, await namedFiles(api, context, words));
    await api("PATCH /api/contexts/{context_id}/queue/{message_id}", {
      path,
      body: { ...attachedTo(messages), payloads },
    });
  };
  return (
    <li className="queue-item">
      {isEditing ? (
        <Rewrite
          now={now}
          label={t("editing")}
          done={t("save")}
          hasFiles={messages.some((message) => message.type !== "text")}
          whyNot={isOn ? null : t("offline")}
          save={save}
        />
      ) : (
        <>
          <div className="queue-words">
            {text !== "" && <SaidText id={item.id} text={text} />}
            <FileChips files={filesOf(messages)} />
          </div>
          <div className="queue-buttons">
            <Button
              kind={["small", "quiet"]}
              icon="send"
              whyNot={whyNot}
              onClick={() => void sendNow(context, queued, isTurnOpen)}
            >
              {t(isTurnOpen ? "stopAndSend" : "sendNow")}
            </Button>
            <IconButton
              kind={["small", "quiet"]}
              icon="edit"
              label={t("edit")}
              whyNot={whyNot}
              onClick={() => editing.set({ context, id: item.id, text })}
            />
            <IconButton
              kind={["small", "quiet"]}
              icon="trash"
              label={t("remove")}
              whyNot={whyNot}
              onClick={() => void remove()}
            />
          </div>
        </>
      )}
      <ProblemNote problem={doing.problem} />
    </li>
  );
}

/**
 * After a turn that was stopped, what waits is held. So the one that is meant is taken out of the queue then, and sent
 * like any other message; those that still wait follow it. If somebody else has taken it meanwhile, nothing is sent.
 */
function useSendNow(doing: Doing): (context: string, queued: QueuedMessage, isTurnOpen: boolean) => Promise<unknown> {
  const { api, act, switches } = usePage();
  return (context, { item, messages }, isTurnOpen) =>
    doing.run(async () => {
      await switches.settled(context);
      if (isTurnOpen) await api("POST /api/contexts/{context_id}/cancel", { path: { context_id: context } });
      await api("DELETE /api/contexts/{context_id}/queue/{message_id}", {
        path: { context_id: context, message_id: item.id },
      });
      const body = {
        ...attachedTo(messages),
        payloads: payloadsOf(messages),
        ...(item.mode == null ? {} : { mode: item.mode }),
      };
      act({ kind: "send", id: context, body });
    });
}
