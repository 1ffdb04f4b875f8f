/** Behind the name of a call's tool: the way to its line in the conversation. */
import type { CallShape } from "../../api/schema";
import { useWords } from "../../i18n/words";
import { IconButton } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName } from "../../ui/names";
import { jumpToCall } from "./jump";
import { WORDS } from "./words";

export function JumpButton({ call }: { call: CallShape }) {
  const t = useWords(WORDS);
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
        onClick={() => jumpToCall(call.id)}
      />
    </>
  );
}
