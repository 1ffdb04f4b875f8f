/** What was said while the agent was busy: it waits here, in its order, and can still be changed. */
import { useEffect, useRef } from "react";
import type { QueuedMessage } from "../../api/schema";
import { useAsked, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { visible } from "../../store/selectors";
import type { Outgoing, State } from "../../store/state";
import { notify } from "../../ui/Notices";
import { drafts } from "./drafts";
import { editing } from "./editing";
import { QueueItem } from "./queue/QueueItem";
import { standingIn } from "./queue/standing";
import { WORDS } from "./queue/words";
import { queued } from "./queued";
import { FileChips, filesOf } from "./said/FileChips";
import { SaidText } from "./said/SaidText";
import { Unsent } from "./said/Unsent";
import "./queue.css";

export function Queue({ id }: { id: string }) {
  const t = useWords(WORDS);
  const count = useSlice((state) => state.contexts[id]?.shape.value?.queued ?? 0, [id]);
  const version = useSlice((state) => state.contexts[id]?.shape.value?.version ?? 0, [id]);
  const isOpen = useSlice((state) => isTurnOpen(state, id), [id]);
  const waiting = useSlice((state) => visible(state, id).waiting, [id]);
  const found = useAsked(
    "GET /api/contexts/{context_id}/queue",
    count === 0 ? null : { path: { context_id: id } },
    version,
  );
  const items = count === 0 ? [] : (found.value?.items ?? []);
  const stood = useRef<readonly Outgoing[]>([]);
  const standing = standingIn(
    stood.current,
    waiting,
    items.map(({ item }) => item.id),
    count,
  );
  stood.current = standing;
  const isKnown = count === 0 || found.value !== null;
  useEffect(() => {
    if (isKnown && queued.getSnapshot()?.context === id && takeBack(id, items)) notify(t("taken"));
    queued.set({ context: id, items });
  }, [id, isKnown, found.value, count]);
  if (items.length + standing.length === 0) return null;
  return (
    <section className="queue" aria-label={t("queue")}>
      <p className="queue-head soft small">{t(isOpen ? "after" : "held", { n: items.length })}</p>
      <ol className="queue-list">
        {items.map((each) => (
          <QueueItem key={each.item.id} context={id} queued={each} isTurnOpen={isOpen} />
        ))}
        {standing.map((outgoing) => {
          const payloads = outgoing.command.kind === "send" ? (outgoing.command.body.payloads ?? []) : [];
          const text = payloads.flatMap((each) => (each.type === "text" ? [each.content] : [])).join("\n\n");
          return (
            <li key={outgoing.key} className="queue-item is-sending">
              <SaidText id={outgoing.key} text={text} />
              <FileChips files={filesOf(payloads)} />
              <Unsent outgoing={outgoing} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** The turn of one came while somebody was editing it: what they wrote goes on in the box. */
function takeBack(context: string, items: readonly QueuedMessage[]): boolean {
  const now = editing.getSnapshot();
  const waits = (all: readonly QueuedMessage[]) => all.some(({ item }) => item.id === now?.id);
  if (now?.context !== context || !waits(queued.getSnapshot()?.items ?? []) || waits(items)) return false;
  editing.set(null);
  drafts.add(context, { text: now.text, files: [] });
  return true;
}

/** Where no turn is open, nothing takes them by itself. */
function isTurnOpen(state: State, id: string): boolean {
  return state.contexts[id]?.shape.value?.turn != null;
}
