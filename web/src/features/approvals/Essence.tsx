/** What a call is about, on one line, marked like the call itself. */
import type { CallShape } from "../../api/schema";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import { essenceOf } from "./tools";

interface Given {
  call: CallShape;
  workspace: string | null;
  extraClass?: string;
}

export function Essence({ call, workspace, extraClass }: Given) {
  return (
    <code className={extraClass}>
      <Lookalikes value={call.lookalikes ?? ""}>
        <ForeignText text={essenceOf(call, workspace)} />
      </Lookalikes>
    </code>
  );
}
