/**
 * Builds the rows of the transcript from messages. Tool results join the row of their call, files the row of their
 * message.
 */
import type { ErrorMessage, ToolRequestView, ToolResult } from "../../../api/schema";
import type { Message } from "../../../api/types";
import { isEqual } from "../../../store/structuralSharing";
import type { Outgoing, StreamingMessage } from "../../../store/state";
import { displayTextOf, displayTextOfPart } from "../user-message/payloads";

type TextMessage = Extract<Message, { type: "text" }>;
type Results = { readonly [call: string]: ToolResult };

/** An answer of the model: keeps its id from streaming to the stored message. */
export interface AnswerRow {
  readonly kind: "answer";
  readonly id: string;
  readonly text: string;
  readonly isStreaming: boolean;
  readonly message: TextMessage | ToolRequestView | null;
  readonly results: Results;
}

export type Row =
  | { readonly kind: "user"; readonly id: string; readonly messages: readonly Message[] }
  | { readonly kind: "sending"; readonly id: string; readonly outgoing: Outgoing }
  | AnswerRow
  | { readonly kind: "error"; readonly id: string; readonly message: ErrorMessage }
  | { readonly kind: "notice"; readonly id: string; readonly message: Message };

const NO_RESULTS: Results = {};

/** The rows of stored messages. */
export function rowsOf(messages: readonly Message[]): readonly Row[] {
  return createRowBuilder()(messages);
}

/**
 * Returns a function that builds rows incrementally. A row whose messages are unchanged remains the same object, so
 * that it is not rendered again; if messages were only added, only the last turn is rebuilt.
 */
export function createRowBuilder(): (messages: readonly Message[]) => readonly Row[] {
  let previousMessages: readonly Message[] = [];
  let built: readonly BuiltRow[] = [];
  return (messages) => {
    const from = lastTurnStart(built, commonPrefixLength(previousMessages, messages));
    const unchanged = built.slice(0, from);
    const rebuilt = buildRows(messages, built[from]?.start ?? 0);
    const old = new Map(built.slice(from).map(({ row }) => [row.id, row]));
    built = [...unchanged, ...rebuilt.map(({ row, start }) => ({ row: reuse(old.get(row.id), row), start }))];
    previousMessages = messages;
    return built.map(({ row }) => row);
  };
}

/** A row and the index of its first message. */
interface BuiltRow {
  readonly row: Row;
  readonly start: number;
}

function commonPrefixLength(previous: readonly Message[], current: readonly Message[]): number {
  let count = 0;
  while (count < previous.length && previous[count] === current[count]) count++;
  return count;
}

/** The index of the row that starts the turn containing the given message. Rows before it can no longer change. */
function lastTurnStart(built: readonly BuiltRow[], message: number): number {
  const index = built.findLastIndex(({ row, start }) => row.kind === "user" && start < message);
  return Math.max(0, index);
}

function buildRows(messages: readonly Message[], from: number): readonly BuiltRow[] {
  const built: { row: Row; start: number }[] = [];
  const rowIndexByCall = new Map<string, number>();
  for (let start = from; start < messages.length; start++) {
    const message = messages[start];
    if (message === undefined) continue;
    const requestRow = message.type === "tool_result" ? built[rowIndexByCall.get(message.call_id) ?? -1] : undefined;
    if (message.type === "tool_result" && requestRow?.row.kind === "answer") {
      requestRow.row = { ...requestRow.row, results: { ...requestRow.row.results, [message.call_id]: message } };
    } else if (message.role === "user") {
      const last = built.at(-1);
      const joined = last === undefined ? null : joinUserMessage(last.row, message);
      if (last !== undefined && joined !== null) last.row = joined;
      else built.push({ row: { kind: "user", id: message.message_id, messages: [message] }, start });
    } else {
      if (message.type === "tool_request") for (const call of message.calls) rowIndexByCall.set(call.id, built.length);
      built.push({ row: rowOf(message), start });
    }
  }
  return built;
}

/** Joins text, files and images of one turn into one row. */
function joinUserMessage(last: Row, message: Message): Row | null {
  const turn = message.metadata?.turn ?? null;
  const isJoined = last.kind === "user" && turn !== null && last.messages[0]?.metadata?.turn === turn;
  return isJoined ? { ...last, messages: [...last.messages, message] } : null;
}

function rowOf(message: Message): Row {
  const id = message.message_id;
  if (message.type === "tool_request" || message.type === "text") {
    return { kind: "answer", id, text: message.content ?? "", isStreaming: false, message, results: NO_RESULTS };
  }
  return message.type === "error" ? { kind: "error", id, message } : { kind: "notice", id, message };
}

function reuse(old: Row | undefined, fresh: Row): Row {
  return old !== undefined && isEqual(old, fresh) ? old : fresh;
}

/** The rows after the stored ones: messages being sent and answers being streamed. */
export function trailingRows(sending: readonly Outgoing[], streaming: readonly StreamingMessage[]): readonly Row[] {
  return [
    ...sending.map((outgoing): Row => ({ kind: "sending", id: outgoing.key, outgoing })),
    ...streaming
      .filter(({ text }) => text !== "")
      .map(({ id, text }): Row => ({
        kind: "answer",
        id,
        text,
        isStreaming: true,
        message: null,
        results: NO_RESULTS,
      })),
  ];
}

/** The estimated height of a row in pixels, used until it is measured. */
export function estimateHeight(row: Row): number {
  switch (row.kind) {
    case "answer":
      return 60 + textHeight(row.text) + (row.message?.type === "tool_request" ? row.message.calls.length * 40 : 0);
    case "user":
      return (
        66 +
        row.messages.reduce(
          (sum, message) => sum + (message.type === "text" ? textHeight(displayTextOfPart(message)) : 30),
          0,
        )
      );
    case "sending":
    case "error":
      return 90;
    case "notice":
      return 44;
  }
}

function textHeight(text: string): number {
  return 24 * Math.ceil(text.length / 80);
}

/** The text of a user row, as displayed. */
export function userTextOf(row: Row): string {
  return row.kind === "user" ? displayTextOf(row.messages) : "";
}
