/** The summary of a call on one line, with lookalike characters marked as in the call itself. */
import type { CallView } from "../../api/schema";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import { summaryOf } from "./callText";

interface Props {
  call: CallView;
  workspace: string | null;
  extraClass?: string;
}

export function CallSummary({ call, workspace, extraClass }: Props) {
  return (
    <code className={extraClass}>
      <Lookalikes value={call.lookalikes ?? ""}>
        <ForeignText text={summaryOf(call, workspace)} />
      </Lookalikes>
    </code>
  );
}
