/** Links from a call to the conversations of the sub-agents that it started. */
import type { CallView } from "../../api/schema";
import { useQuery, useAppServices } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine } from "../../ui/safeText";
import { subagentsOf } from "./subagentsOf";

export function SubagentLinks({ call, context }: { call: CallView; context: string }) {
  const t = useTexts("approvals");
  const { act } = useAppServices();
  const hasStarted = call.started_at != null;
  const children =
    useQuery("GET /api/contexts", hasStarted ? { query: { parent: context } } : null, call.status).value?.items ?? [];
  const subagents = subagentsOf(call, children);
  if (subagents.length === 0) return null;
  return (
    <div className="sub-agents">
      {subagents.map((child) => (
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
