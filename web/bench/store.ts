/** The cost of one event in the store, in microseconds of CPU time, by the number of loaded messages. */
import { createStore } from "../src/store/store";
import { activeId, visibleMessages } from "../src/store/selectors";
import type { Store } from "../src/store/store";
import { browserEnvironment } from "../src/environment";
import type { ContextView, Session } from "../src/api/schema";
import type { Message } from "../src/api/types";
import { wants } from "../src/store/wants";
import { createRowBuilder } from "../src/features/chat/transcript/rows";

const ID = "context";
const TIMESTAMP = "2026-01-01T00:00:00.000Z";

function message(number: number): Message {
  const text = {
    type: "text",
    content: `${number} `.padEnd(200, "x"),
    message_id: `message-${number}`,
    timestamp: TIMESTAMP,
  } as const;
  return { ...text, role: number % 2 === 0 ? "user" : "assistant" };
}

/** A store with messages, observed like in the web client: by a runner and by selectors. */
function createLoadedStore(count: number): {
  store: Store;
  version: () => number;
  viewOf: (length: number, version: number) => ContextView;
} {
  const store = createStore(browserEnvironment);
  let version = 1;
  const all = Array.from({ length: count }, (_, number) => message(number));
  const viewOf = (length: number, viewVersion: number): ContextView => {
    const ids = Array.from(
      { length: Math.min(50, length) },
      (_, index) => `message-${length - Math.min(50, length) + index}`,
    );
    const branch = { name: "main", key: "key", length, message_ids: ids, created_at: TIMESTAMP };
    return {
      context_id: ID,
      version: viewVersion,
      active_branch: "main",
      branches: { main: branch },
      current_state: { type: "streaming_llm_response", chunks_received: 1, chars_accumulated: 1 },
      pending_tool_calls: [],
      open_questions: [],
      waiting_below: [],
      streaming: null,
    } as unknown as ContextView;
  };
  const session = {
    version: 1,
    active_context_id: ID,
    open_contexts: [{ context_id: ID, title: "long" }],
  } as unknown as Session;
  const requestedAt = () => store.getSnapshot().tick;
  store.dispatch({
    type: "answered",
    kind: "session",
    pull: { kind: "session" },
    requestedAt: requestedAt(),
    answer: session,
  });
  store.dispatch({
    type: "answered",
    kind: "context",
    pull: { kind: "context", id: ID },
    requestedAt: requestedAt(),
    answer: viewOf(count, version),
  });
  for (;;) {
    const { branch } = store.getSnapshot().contexts[ID] ?? {
      branch: { firstPosition: 0, ids: [] as readonly string[] },
    };
    const missing = branch.ids.filter((id) => store.getSnapshot().contexts[ID]?.messages[id] === undefined);
    if (missing.length > 0) {
      const answer = missing.flatMap((id) => all[Number(id.slice(8))] ?? []);
      store.dispatch({
        type: "answered",
        kind: "messages",
        pull: { kind: "messages", id: ID, ids: missing },
        requestedAt: requestedAt(),
        answer,
      });
    } else if (branch.firstPosition > 0) {
      const before = branch.firstPosition;
      const ids = all.slice(Math.max(0, before - 2000), before).map((each) => each.message_id);
      const answer = { name: "main", key: "key", length: count, message_ids: ids, created_at: TIMESTAMP } as never;
      store.dispatch({
        type: "answered",
        kind: "older",
        pull: { kind: "older", id: ID, branch: "main", before },
        requestedAt: requestedAt(),
        answer,
      });
    } else break;
  }
  store.subscribe(() => void wants(store.getSnapshot()));
  const buildRows = createRowBuilder();
  const messages = store.select((state) => visibleMessages(state, ID).messages);
  messages.subscribe(() => void buildRows(messages.getSnapshot()));
  store.select((state) => visibleMessages(state, ID).streaming).subscribe(() => {});
  for (let part = 0; part < 60; part++) store.select((state) => [activeId(state), part]).subscribe(() => {});
  return { store, version: () => version++, viewOf };
}

function microsecondsPerRun(work: (turn: number) => void, turns: number): number {
  for (let turn = 0; turn < turns / 4; turn++) work(turn);
  // CPU time, because other processes may use the machine.
  const before = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) work(turns + turn);
  return process.cpuUsage(before).user / turns;
}

export function measure(count: number): { readonly delta: number; readonly state: number; readonly added: number } {
  const { store, viewOf } = createLoadedStore(count);
  if (visibleMessages(store.getSnapshot(), ID).messages.length !== count) throw new Error("not loaded");
  let sequence = 0;
  const delta = microsecondsPerRun(() => {
    sequence += 1;
    store.dispatch({
      type: "signal",
      signal: { event: "ContentDelta", context_id: ID, version: 1, message_id: "new", sequence },
    });
    const requestedAt = store.getSnapshot().tick;
    const pull = { kind: "text", id: ID, message: "new", from: sequence - 1 } as const;
    store.dispatch({ type: "answered", kind: "text", pull, requestedAt, answer: [{ sequence, delta: "word " }] });
  }, 400);
  const state = microsecondsPerRun((turn) => {
    const state = { type: "streaming_llm_response", chunks_received: turn, chars_accumulated: turn } as const;
    store.dispatch({
      type: "signal",
      signal: { event: "StateChanged", context_id: ID, version: 1, state: state } as never,
    });
  }, 400);
  let length = count;
  const added = microsecondsPerRun(() => {
    length += 1;
    const requestedAt = () => store.getSnapshot().tick;
    store.dispatch({
      type: "answered",
      kind: "context",
      pull: { kind: "context", id: ID },
      requestedAt: requestedAt(),
      answer: viewOf(length, length),
    });
    const answer = [message(length - 1)];
    const ids = answer.map((each) => each.message_id);
    store.dispatch({
      type: "answered",
      kind: "messages",
      pull: { kind: "messages", id: ID, ids },
      requestedAt: requestedAt(),
      answer,
    });
  }, 40);
  return { delta, state, added };
}
