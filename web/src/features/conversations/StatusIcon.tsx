/** The status of a conversation as an icon with a label. */
import type { ContextSummary } from "../../api/schema";
import states from "../../api/states.json";
import { type TextName, useTexts } from "../../i18n/texts";
import { Icon } from "../../ui/icons";
import "./status-icon.css";

export type ConversationStatus = TextName<"conversationStatus"> | null;

/** The status of a listed conversation. */
export function statusOf({ state, damage }: Pick<ContextSummary, "state" | "damage">): ConversationStatus {
  if (damage != null) return "damaged";
  if (state == null) return null;
  if (state.type === "awaiting_tool_approval" || state.type === "awaiting_user_answer") return "waiting";
  return states.resting.includes(state.type) ? null : "working";
}

/** The status of an open tab. */
export function statusOfTab({ isWaiting, isBusy }: { isWaiting: boolean; isBusy: boolean }): ConversationStatus {
  return isWaiting ? "waiting" : isBusy ? "working" : null;
}

export function StatusIcon({ status }: { status: ConversationStatus }) {
  const t = useTexts("conversationStatus");
  if (status === null) return null;
  return (
    <span className={`status-icon is-${status}`} title={t(status)}>
      {status === "damaged" && <Icon name="warning" size={14} />}
      <span className="hidden-visually">{t(status)}: </span>
    </span>
  );
}
