/** Confirms the deletion of a conversation, and names what is deleted and what remains. */
import { useQuery, useAction, useAppServices } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { activeId, fallbackTab } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { refreshConversations } from "./useConversations";

const MAX_COUNTED_SUBAGENTS = 200;

export function DeleteDialog({ id, title, onClose }: { id: string; title: string; onClose(): void }) {
  const t = useTexts("deleteDialog");
  const { act, api, store } = useAppServices();
  const action = useAction();
  const subagents = useQuery("GET /api/contexts", { query: { parent: id, limit: MAX_COUNTED_SUBAGENTS } }).value;
  const remove = async () => {
    const isDone = await action.run(() => api("DELETE /api/contexts/{context_id}", { path: { context_id: id } }));
    if (!isDone) return;
    refreshConversations();
    const state = store.getSnapshot();
    if (activeId(state) === id) act({ kind: "activate", id: fallbackTab(state, id) });
    onClose();
  };
  const subagentCount = subagents?.items.length ?? 0;
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("keep")}</Button>
          <Button kind="danger" icon="trash" disabled={action.isBusy} onClick={() => void remove()}>
            {t("delete")}
          </Button>
        </>
      }
    >
      <div className="dialog-stack">
        <p>
          <ForeignText text={t("lost", { title })} />
        </p>
        {subagentCount > 0 && <p>{t(subagents?.next == null ? "agents" : "manyAgents", { n: subagentCount })}</p>}
        <p className="soft">{t("stays")}</p>
        <ProblemNote problem={action.problem} />
      </div>
    </Dialog>
  );
}
