/** The messages that were sent while the agent was busy: queued in order, and editable until their turn. */
import { useEffect, useRef } from "react";
import type { QueuedMessage } from "../../../api/schema";
import { useQuery, useSelector } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { visibleMessages } from "../../../store/selectors";
import type { Outgoing, State } from "../../../store/state";
import { notify } from "../../../ui/Notices";
import { drafts } from "../drafts";
import { messageEdit } from "../messageEdit";
import { QueueItem } from "./QueueItem";
import { unlistedOutgoing } from "./unlistedOutgoing";
import { queueAtom } from "./queueAtom";
import { FileChips, filesOf } from "../user-message/FileChips";
import { UserMessageText } from "../user-message/UserMessageText";
import { DeliveryStatus } from "../user-message/DeliveryStatus";
import "./message-queue.css";

export function MessageQueue({ id }: { id: string }) {
  const t = useTexts("queue");
  const count = useSelector((state) => state.contexts[id]?.view.value?.queued ?? 0, [id]);
  const version = useSelector((state) => state.contexts[id]?.view.value?.version ?? 0, [id]);
  const isOpen = useSelector((state) => isTurnOpen(state, id), [id]);
  const sending = useSelector((state) => visibleMessages(state, id).queued, [id]);
  const queueQuery = useQuery(
    "GET /api/contexts/{context_id}/queue",
    count === 0 ? null : { path: { context_id: id } },
    version,
  );
  const items = count === 0 ? [] : (queueQuery.value?.items ?? []);
  const previousOutgoing = useRef<readonly Outgoing[]>([]);
  const unlisted = unlistedOutgoing(
    previousOutgoing.current,
    sending,
    items.map(({ item }) => item.id),
    count,
  );
  previousOutgoing.current = unlisted;
  const isLoaded = count === 0 || queueQuery.value !== null;
  useEffect(() => {
    if (isLoaded && queueAtom.getSnapshot()?.context === id && moveEditToDraft(id, items)) notify(t("taken"));
    queueAtom.set({ context: id, items });
  }, [id, isLoaded, queueQuery.value, count]);
  if (items.length + unlisted.length === 0) return null;
  return (
    <section className="queue" aria-label={t("queue")}>
      <p className="queue-head soft small">{t(isOpen ? "after" : "held", { n: items.length })}</p>
      <ol className="queue-list">
        {items.map((each) => (
          <QueueItem key={each.item.id} context={id} queued={each} isTurnOpen={isOpen} />
        ))}
        {unlisted.map((outgoing) => {
          const payloads = outgoing.command.kind === "send" ? (outgoing.command.body.payloads ?? []) : [];
          const text = payloads
            .flatMap((each) => (each.type === "text" ? [each.display || each.content] : []))
            .join("\n\n");
          return (
            <li key={outgoing.key} className="queue-item is-sending">
              <UserMessageText id={outgoing.key} text={text} />
              <FileChips files={filesOf(payloads)} />
              <DeliveryStatus outgoing={outgoing} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Moves an edit to the composer if its message has left the queue meanwhile. */
function moveEditToDraft(context: string, items: readonly QueuedMessage[]): boolean {
  const edit = messageEdit.getSnapshot();
  const isQueued = (all: readonly QueuedMessage[]) => all.some(({ item }) => item.id === edit?.id);
  if (edit?.context !== context || !isQueued(queueAtom.getSnapshot()?.items ?? []) || isQueued(items)) return false;
  messageEdit.set(null);
  drafts.append(context, { text: edit.text, files: [] });
  return true;
}

/** Whether a turn is open. Without one, the queue is held. */
function isTurnOpen(state: State, id: string): boolean {
  return state.contexts[id]?.view.value?.turn != null;
}
