/** Opens the user's last message for editing: the last queued message, else the last one sent. */
import { useAppServices } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { canSend, visibleMessages } from "../../../store/selectors";
import { announce } from "../../../ui/Announcer";
import { messageEdit, scrollTarget } from "../messageEdit";
import { rowsOf } from "../transcript/rows";
import { lastQueued } from "../queue/queueAtom";
import { isUserMessage, textOf } from "../user-message/payloads";

export function useEditLast(id: string | null): () => void {
  const t = useTexts("composer");
  const { store } = useAppServices();
  return () => {
    if (id === null) return;
    const queued = lastQueued(id);
    if (queued !== null) return messageEdit.set({ context: id, id: queued.id, text: queued.text });
    const state = store.getSnapshot();
    const last = rowsOf(visibleMessages(state, id).messages).findLast(
      (row) => row.kind === "user" && isUserMessage(row.messages),
    );
    if (last?.kind !== "user") return;
    if (canSend(state, id) !== "now") return announce(t("busyEdit"));
    scrollTarget.set({ context: id, id: last.id });
    messageEdit.set({ context: id, id: last.id, text: textOf(last.messages) });
  };
}
