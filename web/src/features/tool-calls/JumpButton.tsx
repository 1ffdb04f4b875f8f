/** The id of a call's tool, and a button that scrolls to the call in the transcript. */
import type { CallView } from "../../api/schema";
import { useTexts } from "../../i18n/texts";
import { IconButton } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName } from "../../ui/safeText";
import { scrollToCall } from "./scrollToCall";

export function JumpButton({ call }: { call: CallView }) {
  const t = useTexts("approvals");
  return (
    <>
      <code className="tool-id">
        <ForeignText text={visibleName(call.tool)} />
      </code>
      <IconButton
        kind={["quiet", "small"]}
        icon="down"
        extraClass="jump"
        label={t("jump")}
        onClick={() => scrollToCall(call.id)}
      />
    </>
  );
}
