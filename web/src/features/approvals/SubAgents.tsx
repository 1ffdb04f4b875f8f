/** The way from a call that sent a sub-agent to that one's conversation. */
import type { CallShape } from "../../api/schema";
import { useAsked, usePage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine } from "../../ui/names";
import { sentBy } from "./subagents";
import { WORDS } from "./words";

export function SubAgents({ call, context }: { call: CallShape; context: string }) {
  const t = useWords(WORDS);
  const { act } = usePage();
  const isSent = call.started_at != null;
  const found =
    useAsked("GET /api/contexts", isSent ? { query: { parent: context } } : null, call.status).value?.items ?? [];
  const sent = sentBy(call, found);
  if (sent.length === 0) return null;
  return (
    <div className="sub-agents">
      {sent.map((child) => (
        <Button
          key={child.context_id}
          kind="small"
          icon="split"
          title={t("subAgent")}
          onClick={() => act({ kind: "activate", id: child.context_id })}
        >
          {t("untitled")}
          {child.title != null && child.title !== "" && <ForeignText text={`: ${visibleLine(child.title)}`} />}
        </Button>
      ))}
    </div>
  );
}
