/** Before a conversation is deleted: what is lost, and what is not. */
import { useAsked, useDoing, usePage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { activeId, nextTo } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { listChanged } from "./useConversations";

const WORDS = {
  title: ["Delete this conversation?", "删除此对话？"],
  lost: [
    "“{title}”: its messages, its branches and the record of what was decided in it are gone for good.",
    "“{title}”：其中的消息、分支和决定记录将被永久删除。",
  ],
  agents: [
    "{n|The sub-agent that it sent is|The {n} sub-agents that it sent are} deleted with it.",
    "它派出的 {n} 个子智能体也会一并删除。",
  ],
  manyAgents: [
    "More than {n} sub-agents that it sent are deleted with it.",
    "它派出的 {n} 个以上子智能体也会一并删除。",
  ],
  stays: ["Files that the agent has written stay as they are.", "智能体写入的文件会保持原样。"],
  keep: ["Keep it", "保留"],
  delete: ["Delete", "删除"],
} as const;
const COUNTED = 200;

export function DeleteDialog({ id, title, onClose }: { id: string; title: string; onClose(): void }) {
  const t = useWords(WORDS);
  const { act, api, store } = usePage();
  const doing = useDoing();
  const below = useAsked("GET /api/contexts", { query: { parent: id, limit: COUNTED } }).value;
  const remove = async () => {
    const isDone = await doing.run(() => api("DELETE /api/contexts/{context_id}", { path: { context_id: id } }));
    if (!isDone) return;
    listChanged();
    const state = store.getSnapshot();
    if (activeId(state) === id) act({ kind: "activate", id: nextTo(state, id) });
    onClose();
  };
  const agents = below?.items.length ?? 0;
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t("keep")}</Button>
          <Button kind="danger" icon="trash" disabled={doing.isBusy} onClick={() => void remove()}>
            {t("delete")}
          </Button>
        </>
      }
    >
      <div className="dialog-stack">
        <p>
          <ForeignText text={t("lost", { title })} />
        </p>
        {agents > 0 && <p>{t(below?.next == null ? "agents" : "manyAgents", { n: agents })}</p>}
        <p className="soft">{t("stays")}</p>
        <ProblemNote problem={doing.problem} />
      </div>
    </Dialog>
  );
}
