/** Finds the sub-agents that a call started. The server does not tell, but a context id contains its creation time. */
import type { CallView, ContextSummary } from "../../api/schema";

/** The timestamp of a UUIDv7 in milliseconds; NaN for other ids. */
export function uuidTime(id: string): number {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
  return digits === null ? NaN : parseInt(`${digits[1]}${digits[2]}`, 16);
}

/** The sub-agents created while the call ran: one, unless several calls ran at the same time. */
export function subagentsOf(
  call: Pick<CallView, "started_at" | "finished_at">,
  children: readonly ContextSummary[],
): readonly ContextSummary[] {
  if (call.started_at == null) return [];
  const started = new Date(call.started_at).getTime();
  const ended = call.finished_at == null ? Infinity : new Date(call.finished_at).getTime();
  return children.filter(({ context_id }) => {
    const createdAt = uuidTime(context_id);
    return createdAt >= started && createdAt <= ended;
  });
}
