/** The lines of a transcript, made from messages. A call stands with its result; a person's message with its files. */
import type { ErrorMessage, ToolRequestShape, ToolResult } from "../../api/schema";
import type { Message } from "../../api/types";
import type { Outgoing, Writing } from "../../store/state";

type TextMessage = Extract<Message, { type: "text" }>;
type Results = { readonly [call: string]: ToolResult };

/** What a model says: while it is written, and afterwards under the same id. */
export interface AnswerRow {
  readonly kind: "answer";
  readonly id: string;
  readonly text: string;
  readonly isWriting: boolean;
  readonly message: TextMessage | ToolRequestShape | null;
  readonly results: Results;
}

export type Row =
  | { readonly kind: "said"; readonly id: string; readonly messages: readonly Message[] }
  | { readonly kind: "sending"; readonly id: string; readonly outgoing: Outgoing }
  | AnswerRow
  | { readonly kind: "error"; readonly id: string; readonly message: ErrorMessage }
  | { readonly kind: "mark"; readonly id: string; readonly message: Message };

const NO_RESULTS: Results = {};

/** The lines of messages that are there. */
export function rowsOf(messages: readonly Message[]): readonly Row[] {
  const rows: Row[] = [];
  let results: Record<string, ToolResult> = {};
  const asked = new Set<string>();
  for (const message of messages) {
    if (message.type === "tool_request") {
      results = {};
      for (const call of message.calls) asked.add(call.id);
      rows.push(answerRow(message, message.content ?? "", results));
    } else if (message.type === "tool_result" && asked.has(message.call_id)) {
      results[message.call_id] = message;
    } else if (message.role === "user") {
      joinSaid(rows, message);
    } else if (message.type === "text") {
      rows.push(answerRow(message, message.content, NO_RESULTS));
    } else {
      rows.push(message.type === "error" ? { kind: "error", id: message.message_id, message } : { kind: "mark", id: message.message_id, message });
    }
  }
  return rows;
}

/** A person's text, files and images of one turn are one line. */
function joinSaid(rows: Row[], message: Message): void {
  const last = rows.at(-1);
  const turn = message.metadata?.turn ?? null;
  if (last?.kind === "said" && turn !== null && last.messages[0]?.metadata?.turn === turn) {
    rows[rows.length - 1] = { ...last, messages: [...last.messages, message] };
    return;
  }
  rows.push({ kind: "said", id: message.message_id, messages: [message] });
}

function answerRow(message: TextMessage | ToolRequestShape, text: string, results: Results): AnswerRow {
  return { kind: "answer", id: message.message_id, text, isWriting: false, message, results };
}

/** The lines behind them: what is being sent, and what is being written. */
export function rowsAtEnd(sending: readonly Outgoing[], writing: readonly Writing[]): readonly Row[] {
  return [
    ...sending.map((outgoing): Row => ({ kind: "sending", id: outgoing.key, outgoing })),
    ...writing
      .filter(({ text }) => text !== "")
      .map(({ id, text }): Row => ({ kind: "answer", id, text, isWriting: true, message: null, results: NO_RESULTS })),
  ];
}
