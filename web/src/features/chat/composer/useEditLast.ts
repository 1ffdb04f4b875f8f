/** The last thing that the person said, to be said otherwise: what waits in the queue, else their last message. */
import { usePage } from "../../../app/page";
import { useWords } from "../../../i18n/words";
import { canSend, visible } from "../../../store/selectors";
import { announce } from "../../../ui/Announcer";
import { editing, toShow } from "../editing";
import { rowsOf } from "../rows";
import { lastQueued } from "../queued";
import { isSaid, textOf } from "../said/payloads";
import { WORDS } from "./words";

export function useEditLast(id: string | null): () => void {
  const t = useWords(WORDS);
  const { store } = usePage();
  return () => {
    if (id === null) return;
    const queued = lastQueued(id);
    if (queued !== null) return editing.set({ context: id, id: queued.id, text: queued.text });
    const state = store.getSnapshot();
    const last = rowsOf(visible(state, id).messages).findLast((row) => row.kind === "said" && isSaid(row.messages));
    if (last?.kind !== "said") return;
    if (canSend(state, id) !== "now") return announce(t("busyEdit"));
    toShow.set({ context: id, id: last.id });
    editing.set({ context: id, id: last.id, text: textOf(last.messages) });
  };
}
