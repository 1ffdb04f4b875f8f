/** A context as signals and pulls make it. */
import type { ContextShape, Delta } from "../api/schema";
import type { Signal } from "../api/types";
import { follow, takeMessages, takeOlder } from "./branch";
import type { Answered, Happening } from "./events";
import { isAlike, share, without } from "./share";
import { type Copy, type Pulled, type Tick, tell } from "./state";

const DOUBT = 300;

export type ContextSignal = Exclude<Signal, { event: "SessionChanged" }>;

/** Whether an answer is newer than what we have: it was asked after that had come, or says so itself. */
export function isNewer(old: Pulled<{ version?: number }>, asked: Tick, version: number): boolean {
  const known = old.value?.version ?? -1;
  return asked >= old.got || version > known || (version === known && asked > old.asked);
}

export function takeSignal(copy: Copy, signal: ContextSignal, tick: Tick, isActive: boolean): Copy {
  const known = copy.shape.value?.version ?? -1;
  const version = signal.version ?? known;
  const fresh = version > known ? tell(copy, tick) : copy;
  switch (signal.event) {
    case "StateChanged":
      return version === known ? takeState(copy, signal, tick) : fresh;
    case "ContentDelta":
      return isActive && version >= known ? note(fresh, signal.message_id, signal.sequence, tick) : fresh;
    case "MessageChanged": {
      const held = fresh.messages[signal.message_id];
      if (held === undefined) return fresh;
      return { ...fresh, messages: { ...fresh.messages, [signal.message_id]: { ...held, told: tick } } };
    }
    case "ContextChanged":
      // The beginning of a stream tells of everything: where nobody looks, the version says enough.
      return !isActive && version === known && signal.fields[0] === "*" ? copy : tell(copy, tick);
    case "Error":
      if (signal.code === "unknown_context") return tell(copy, tick); // a pull says whether it is so
      return { ...fresh, notice: signal };
    case "MessageCreated":
    case "MessageCompleted":
      return fresh;
  }
}

/** A state is taken from its signal, but for those whose lists are shortened there. */
function takeState(copy: Copy, signal: Extract<Signal, { event: "StateChanged" }>, tick: Tick): Copy {
  const { value } = copy.shape;
  const isShort =
    signal.cut === true ||
    signal.state.type.startsWith("awaiting_tool") ||
    signal.state.type === "awaiting_user_answer";
  if (value === null || isShort) return tell(copy, tick);
  const shape = { ...copy.shape, value: share(value, { ...value, current_state: signal.state }) };
  return { ...copy, shape, stateTold: tick, doubtUntil: null };
}

/** There is this much of a message that is being written. */
function note(copy: Copy, id: string, total: number, tick: Tick): Copy {
  if (copy.messages[id] !== undefined) return copy;
  const old = copy.texts[id] ?? { id, text: "", sequence: 0, total: 0, told: -1, asked: -1 };
  if (total <= old.total) return copy;
  return { ...copy, texts: { ...copy.texts, [id]: { ...old, total, told: tick } } };
}

export function takeAnswer(
  copy: Copy,
  event: Exclude<Answered, { kind: "session" }>,
  tick: Tick,
  now: number,
  isActive: boolean,
): Copy {
  switch (event.kind) {
    case "context":
      return takeShape(copy, event.answer, event.asked, tick, now, isActive);
    case "messages":
      return isActive ? takeMessages(copy, event.pull.ids, event.answer, event.asked) : copy;
    case "older":
      return isActive ? takeOlder(copy, event.pull.before, event.answer, tick) : copy;
    case "text":
      return takeText(copy, event.pull.message, event.answer, event.asked);
  }
}

function takeShape(copy: Copy, shape: ContextShape, asked: Tick, tick: Tick, now: number, isActive: boolean): Copy {
  const old = copy.shape.value;
  if (!isNewer(copy.shape, asked, shape.version)) return copy;
  // A state that was told meanwhile may be newer than the answer, or older. The next one decides; else a pull does.
  const isUnsure = old !== null && old.version === shape.version && copy.stateTold > asked;
  const differs = isUnsure && !isAlike(old.current_state, shape.current_state, 4);
  const value = share(old, isUnsure ? { ...shape, current_state: old.current_state } : shape);
  const pulled = { value, told: copy.shape.told, asked, got: tick };
  const doubtUntil = differs ? now + DOUBT : null;
  const taken = { ...copy, shape: pulled, doubtUntil, problem: null };
  return isActive ? withWriting(follow(taken, shape), shape, asked, tick) : taken;
}

/** What is neither on the branch nor being written never came to be: its process died before it was kept. */
function withWriting(copy: Copy, shape: ContextShape, asked: Tick, tick: Tick): Copy {
  // What is shown of the branch has no text any more.
  const isOver = (id: string) => id !== shape.streaming?.message_id && !copy.branch.ids.includes(id);
  const kept = { ...copy, texts: without(copy.texts, (id, writing) => writing.told <= asked && isOver(id)) };
  return shape.streaming == null ? kept : note(kept, shape.streaming.message_id, shape.streaming.sequence, tick);
}

/** Pieces are joined only where they continue what is there. */
function takeText(copy: Copy, id: string, pieces: readonly Delta[], asked: Tick): Copy {
  const old = copy.texts[id];
  if (old === undefined) return copy;
  let { text, sequence } = old;
  for (const piece of pieces) {
    if (piece.sequence !== sequence + 1) continue;
    text += piece.delta;
    sequence = piece.sequence;
  }
  const total = Math.max(old.total, sequence);
  return {
    ...copy,
    texts: { ...copy.texts, [id]: { ...old, text, sequence, total, asked: Math.max(old.asked, asked) } },
  };
}

/** The server will not give it: what that means for what was asked. `listed` is when a session came that has its tab. */
export function takeFailure(
  copy: Copy,
  { pull, asked, problem }: Extract<Happening, { type: "failed" }>,
  listed: Tick,
  tick: Tick,
): Copy {
  const isUnknown = problem.status === 404;
  switch (pull.kind) {
    case "context":
      if (asked < copy.shape.got) return copy;
      // What was heard since then is newer: the next answer decides.
      if (isUnknown && asked < Math.max(copy.shape.told, listed)) return tell(copy, tick);
      return isUnknown ? { ...copy, isGone: true } : { ...copy, problem, shape: { ...copy.shape, asked } };
    case "text":
      return isUnknown ? { ...copy, texts: without(copy.texts, (id) => id === pull.message) } : copy;
    case "older":
      return tell({ ...copy, wantsOlder: false }, tick);
    case "messages":
    case "session":
      return copy;
  }
}
