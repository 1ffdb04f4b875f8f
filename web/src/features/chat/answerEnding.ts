/** How an incomplete answer ended. */
import type { Message } from "../../api/types";

export type IncompleteEnding = "cut" | "cancelled" | "interrupted" | "length" | "content_filter" | "refusal";

const REASONS = new Set<string>(["length", "content_filter", "refusal"] satisfies IncompleteEnding[]);

/** Null for a complete answer and for any other message. */
export function endingOf(message: Message | null): IncompleteEnding | null {
  if (message?.type !== "text" || message.role !== "assistant") return null;
  if (message.ended !== undefined && message.ended !== "complete") return message.ended;
  const reason = message.finish_reason ?? "";
  return REASONS.has(reason) ? (reason as IncompleteEnding) : null;
}

/** A refused or filtered answer would end the same way again unless the message is edited. */
export function nextStepAfter(ending: IncompleteEnding): "continue" | "edit" {
  return ending === "content_filter" || ending === "refusal" ? "edit" : "continue";
}

/** The follow-up of an answer, ignoring mode switches: switching the mode is often the way to continue. */
export function followUpOf(messages: readonly Message[], id: string): "nothing" | "error" | "more" {
  const index = messages.findIndex((message) => message.message_id === id);
  const next = messages.slice(index + 1).find(({ type }) => type !== "system_control");
  return next === undefined ? "nothing" : next.type === "error" ? "error" : "more";
}
