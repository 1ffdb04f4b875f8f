/** The lines of a transcript, made from messages. A call stands with its result; a person's message with its files. */
import type { ErrorMessage, ToolRequestShape, ToolResult } from "../../api/schema";
import type { Message } from "../../api/types";
import { isAlike } from "../../store/share";
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
  return rowMaker()(messages);
}

/**
 * Makes the lines again and again. A line whose messages are the same stays the same object, so that it is not drawn
 * again; where messages were only added, only the last turn is looked at.
 */
export function rowMaker(): (messages: readonly Message[]) => readonly Row[] {
  let before: readonly Message[] = [];
  let made: readonly Made[] = [];
  return (messages) => {
    const from = lastTurn(made, sameAtStart(before, messages));
    const kept = made.slice(0, from);
    const fresh = make(messages, made[from]?.start ?? 0);
    const old = new Map(made.slice(from).map(({ row }) => [row.id, row]));
    made = [...kept, ...fresh.map(({ row, start }) => ({ row: same(old.get(row.id), row), start }))];
    before = messages;
    return made.map(({ row }) => row);
  };
}

/** A line, and which message it begins with. */
interface Made {
  readonly row: Row;
  readonly start: number;
}

function sameAtStart(one: readonly Message[], other: readonly Message[]): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count++;
  return count;
}

/** The line with which the turn begins that holds this message: nothing before it can change any more. */
function lastTurn(made: readonly Made[], message: number): number {
  const found = made.findLastIndex(({ row, start }) => row.kind === "said" && start < message);
  return Math.max(0, found);
}

function make(messages: readonly Message[], from: number): readonly Made[] {
  const made: { row: Row; start: number }[] = [];
  const asking = new Map<string, number>();
  for (let start = from; start < messages.length; start++) {
    const message = messages[start];
    if (message === undefined) continue;
    const asker = message.type === "tool_result" ? made[asking.get(message.call_id) ?? -1] : undefined;
    if (message.type === "tool_result" && asker?.row.kind === "answer") {
      asker.row = { ...asker.row, results: { ...asker.row.results, [message.call_id]: message } };
    } else if (message.role === "user") {
      const last = made.at(-1);
      const joined = last === undefined ? null : joinedSaid(last.row, message);
      if (last !== undefined && joined !== null) last.row = joined;
      else made.push({ row: { kind: "said", id: message.message_id, messages: [message] }, start });
    } else {
      if (message.type === "tool_request") for (const call of message.calls) asking.set(call.id, made.length);
      made.push({ row: rowOf(message), start });
    }
  }
  return made;
}

/** A person's text, files and images of one turn are one line. */
function joinedSaid(last: Row, message: Message): Row | null {
  const turn = message.metadata?.turn ?? null;
  const isJoined = last.kind === "said" && turn !== null && last.messages[0]?.metadata?.turn === turn;
  return isJoined ? { ...last, messages: [...last.messages, message] } : null;
}

function rowOf(message: Message): Row {
  const id = message.message_id;
  if (message.type === "tool_request" || message.type === "text") {
    return { kind: "answer", id, text: message.content ?? "", isWriting: false, message, results: NO_RESULTS };
  }
  return message.type === "error" ? { kind: "error", id, message } : { kind: "mark", id, message };
}

function same(old: Row | undefined, fresh: Row): Row {
  return old !== undefined && isAlike(old, fresh) ? old : fresh;
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

/** About how high a line is, before it is drawn. */
export function heightOf(row: Row): number {
  switch (row.kind) {
    case "answer":
      return 60 + linesOf(row.text) + (row.message?.type === "tool_request" ? row.message.calls.length * 40 : 0);
    case "said":
      return (
        66 + row.messages.reduce((sum, message) => sum + (message.type === "text" ? linesOf(message.content) : 30), 0)
      );
    case "sending":
    case "error":
      return 90;
    case "mark":
      return 44;
  }
}

function linesOf(text: string): number {
  return 24 * Math.ceil(text.length / 80);
}

/** The person's text in a line of theirs, as they wrote it. */
export function saidIn(row: Row): string {
  if (row.kind !== "said") return "";
  return row.messages
    .flatMap((message) => (message.type === "text" ? [message.metadata?.display_text ?? message.content] : []))
    .join(" ");
}
