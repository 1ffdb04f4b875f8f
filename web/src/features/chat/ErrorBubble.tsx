/** An error that ended or interrupted a turn, with the next step. */
import type { ErrorMessage } from "../../api/schema";
import type { Message } from "../../api/types";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { canContinue, visibleMessages } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { timeOf } from "../../ui/timeFormat";

export function ErrorBubble({ message, context }: { message: ErrorMessage; context: string }) {
  const t = useTexts("chat");
  const language = useLanguage();
  const { act } = useAppServices();
  const isLast = useSelector(
    (state) => lastMessage(visibleMessages(state, context).messages)?.message_id === message.message_id,
    [context, message.message_id],
  );
  const mayContinue = useSelector((state) => canContinue(state, context), [context]);
  return (
    <article className="error-bubble" aria-label={t("error")}>
      <Icon name="warning" />
      <div className="error-words">
        <p>
          <ForeignText text={translateReason(message.reason, language)} />
        </p>
        <p className="small soft">
          <code>{message.reason.code}</code> ·{" "}
          <time dateTime={message.timestamp}>{timeOf(message.timestamp, language)}</time>
        </p>
      </div>
      {isLast && mayContinue && message.recoverable !== false && (
        <Button icon="play" onClick={() => act({ kind: "control", id: context, action: "continue" })}>
          {t("continue")}
        </Button>
      )}
    </article>
  );
}

/** The last message, ignoring mode switches: switching the mode is often the way to continue. */
function lastMessage(messages: readonly Message[]): Message | undefined {
  return messages.findLast((each) => each.type !== "system_control");
}
