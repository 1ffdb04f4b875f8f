/** The reference server: contexts with versions, branches with keys, messages being streamed. */
import type { CallView, ContextView, Session } from "../src/api/schema";
import type { Message, Signal, State } from "../src/api/types";
import { AT, type ModelContext, openCall, shapeOf } from "./modelContext";

interface Model {
  contexts: Map<string, ModelContext>;
  session: Session;
  /** Every list of message ids that a branch ever had, by branch key; every delta ever streamed, by message. */
  lists: Map<string, string[]>;
  written: Map<string, string[]>;
  /** Every version of every context with each of its states. */
  truths: Set<string>;
  /** Ids of contexts that were deleted and recreated. */
  recreated: Set<string>;
  create(id: string, length: number): void;
  change(what: Change, id: string): void;
  remove(id: string): void;
  openTab(id: string, isActive: boolean): void;
  closeTab(id: string): void;
  send(id: string, key: string, text: string): { message_id: string; turn_id: string } | null;
  shape(id: string): ContextView;
  present(ids: readonly string[]): Signal[];
}

export const CHANGES = [
  "say",
  "write",
  "write",
  "write",
  "finish",
  "call",
  "decide",
  "print",
  "compress",
  "look",
  "branch",
  "mode",
  "die",
  "touch",
] as const;
type Change = (typeof CHANGES)[number];

export const truth = (id: string, version: number, state: State) => `${id} ${version} ${JSON.stringify(state)}`;

export function makeModel(emit: (signal: Signal) => void): Model {
  let counter = 0;
  const newId = (kind: string) => `${kind}${++counter}`;
  const keys = new Map<string, { message_id: string; turn_id: string }>();

  const model: Model = {
    contexts: new Map(),
    session: { user_id: "local", active_context_id: null, open_contexts: [], version: 1 },
    lists: new Map(),
    written: new Map(),
    truths: new Set(),
    recreated: new Set(),
    create(id, length) {
      const context: ModelContext = {
        id,
        version: model.recreated.has(id) ? 1_000 : 1, // the same version of two contexts is indistinguishable
        state: { type: "idle" },
        mode: "agent",
        active: "main",
        branches: new Map(),
        pool: new Map(),
        writing: null,
      };
      model.contexts.set(id, context);
      remember(context);
      const ids = Array.from({ length }, () => newId("m"));
      for (const each of ids)
        context.pool.set(each, { type: "text", message_id: each, role: "user", timestamp: AT, content: each });
      put(context, "main", ids);
    },
    change(what, id) {
      const context = model.contexts.get(id);
      if (context === undefined) return;
      perform[what](context);
      remember(context);
    },
    remove(id) {
      const context = model.contexts.get(id);
      if (context === undefined) return;
      model.contexts.delete(id);
      emit({ event: "ContextChanged", ...about(context), fields: ["deleted"] });
      model.closeTab(id);
    },
    openTab(id, isActive) {
      if (!model.contexts.has(id)) return;
      const tabs = (model.session.open_contexts ?? []).filter((tab) => tab.context_id !== id);
      changeSession({ open_contexts: [...tabs, { context_id: id }], ...(isActive ? { active_context_id: id } : {}) });
    },
    closeTab(id) {
      const tabs = (model.session.open_contexts ?? []).filter((tab) => tab.context_id !== id);
      const active =
        model.session.active_context_id === id
          ? (tabs[0]?.context_id ?? null)
          : (model.session.active_context_id ?? null);
      changeSession({ open_contexts: tabs, active_context_id: active });
    },
    send(id, key, text) {
      const existing = keys.get(key);
      if (existing !== undefined) return existing;
      const context = contextOrThrow(id);
      if (context.state.type !== "idle") return null;
      const sent = { message_id: say(context, text), turn_id: newId("t") };
      keys.set(key, sent);
      return sent;
    },
    shape: (id) => shapeOf(contextOrThrow(id)),
    present: (ids) => [
      ...ids.flatMap((id) => {
        const context = model.contexts.get(id);
        if (context === undefined)
          return [{ event: "Error", context_id: id, code: "unknown_context", error_message: "" } satisfies Signal];
        const { version, writing } = context;
        const about = { context_id: id, version };
        const signals: Signal[] = [
          { event: "StateChanged", ...about, state: context.state },
          { event: "ContextChanged", ...about, fields: ["*"] },
        ];
        if (writing !== null && writing.pieces.length > 0)
          signals.push({ event: "ContentDelta", ...about, message_id: writing.id, sequence: writing.pieces.length });
        return signals;
      }),
      { event: "SessionChanged", user_id: "local", version: model.session.version ?? 0 },
    ],
  };

  const contextOrThrow = (id: string) => {
    const context = model.contexts.get(id);
    if (context === undefined) throw new Error(`there is no ${id}`);
    return context;
  };
  const remember = ({ id, version, state }: ModelContext) => model.truths.add(truth(id, version, state));
  const about = (context: ModelContext) => ({ context_id: context.id, version: context.version });
  const list = (context: ModelContext) => context.branches.get(context.active)!;

  function changeSession(change: Partial<Session>): void {
    model.session = { ...model.session, ...change, version: (model.session.version ?? 0) + 1 };
    emit({ event: "SessionChanged", user_id: "local", version: model.session.version ?? 0 });
  }

  function put(context: ModelContext, name: string, ids: string[], isOriginal = false): void {
    const key = newId("key");
    context.branches.set(name, { name, key, ids, isOriginal });
    model.lists.set(key, [...ids]);
  }

  function enter(context: ModelContext, state: State): void {
    context.state = state;
    remember(context);
    emit({ event: "StateChanged", ...about(context), state });
  }

  function commit(context: ModelContext, fields: string[]): void {
    context.version += 1;
    emit({ event: "ContextChanged", ...about(context), fields });
  }

  function add(context: ModelContext, message: Message): void {
    context.pool.set(message.message_id, message);
    list(context).ids.push(message.message_id);
    model.lists.get(list(context).key)?.push(message.message_id);
    context.version += 1;
    emit({ event: "MessageCompleted", ...about(context), message_id: message.message_id, final_sequence: 1 });
  }

  function say(context: ModelContext, content: string): string {
    const id = newId("m");
    add(context, { type: "text", message_id: id, role: "user", timestamp: AT, content });
    context.writing = { id: newId("m"), pieces: [] };
    model.written.set(context.writing.id, context.writing.pieces);
    enter(context, { type: "awaiting_llm_first_chunk" });
    return id;
  }

  function written(
    context: ModelContext,
  ): { message_id: string; role: "assistant"; timestamp: string; content: string } | null {
    const { writing } = context;
    context.writing = null;
    return writing && { message_id: writing.id, role: "assistant", timestamp: AT, content: writing.pieces.join("") };
  }

  const perform: Record<Change, (context: ModelContext) => void> = {
    say: (context) => context.state.type === "idle" && void say(context, `said ${counter}`),
    write(context) {
      if (context.writing === null) return;
      context.writing.pieces.push(`piece${++counter} `);
      const sequence = context.writing.pieces.length;
      context.state = { type: "streaming_llm_response", chunks_received: sequence, chars_accumulated: 0 };
      emit({ event: "ContentDelta", ...about(context), message_id: context.writing.id, sequence });
      enter(context, context.state);
    },
    finish(context) {
      const message = written(context);
      if (message === null) return;
      add(context, { type: "text", ...message });
      enter(context, { type: "idle" });
    },
    call(context) {
      const message = written(context);
      if (message === null) return;
      const id = newId("call");
      const call: CallView = {
        id,
        message_id: message.message_id,
        tool: "execute",
        display_name: "Execute",
        arguments: {},
        digest: id,
        effect: "mutating",
        read_only: false,
        status: "pending",
        requested_at: AT,
      };
      add(context, { type: "tool_request", ...message, calls: [call] });
      enter(context, { type: "awaiting_tool_approval", pending_requests: [id], tool_names: ["execute"], total: 1 });
    },
    decide(context) {
      const request = openCall(context);
      if (request === undefined) return;
      context.pool.set(request.message_id, {
        ...request,
        calls: request.calls.map((call) => ({ ...call, status: "executed" })),
      });
      context.version += 1;
      emit({ event: "MessageChanged", ...about(context), message_id: request.message_id });
      add(context, {
        type: "tool_result",
        message_id: newId("m"),
        role: "tool",
        timestamp: AT,
        call_id: request.calls[0]!.id,
        tool: "execute",
        content: "done",
        status: "executed",
      });
      enter(context, { type: "idle" });
    },
    print(context) {
      const request = openCall(context);
      if (request === undefined) return;
      context.pool.set(request.message_id, {
        ...request,
        calls: request.calls.map((call) => ({ ...call, output: `printed ${++counter}` })),
      });
      emit({ event: "MessageChanged", ...about(context), message_id: request.message_id });
    },
    compress(context) {
      const old = list(context);
      if (context.state.type !== "idle" || old.ids.length < 3) return;
      const summary = newId("m");
      context.pool.set(summary, {
        type: "text",
        message_id: summary,
        role: "system",
        timestamp: AT,
        content: "in short",
      });
      context.branches.set(`${old.name}-original`, { ...old, name: `${old.name}-original`, isOriginal: true });
      put(context, old.name, [summary, ...old.ids.slice(-2)]);
      commit(context, ["branches"]);
    },
    look(context) {
      if (context.state.type !== "idle") return;
      const names = [...context.branches.keys()];
      context.active = names[(names.indexOf(context.active) + 1) % names.length]!;
      commit(context, ["active_branch"]);
    },
    branch(context) {
      const name = `b${counter % 2}`;
      if (context.state.type !== "idle" || context.active === name) return;
      put(context, name, list(context).ids.slice(0, -1));
      context.active = name;
      commit(context, ["branches", "active_branch"]);
    },
    mode(context) {
      context.mode = context.mode === "agent" ? "plan" : "agent";
      commit(context, ["mode"]);
    },
    /** Kills and restarts the process: a streaming message is lost, or stored as far as it came. */
    die(context) {
      const message = written(context);
      if (message !== null && message.content !== "") add(context, { type: "text", ...message, ended: "interrupted" });
      context.version += 1;
      enter(context, openCall(context) === undefined ? { type: "idle" } : context.state);
    },
    touch: (context) => commit(context, ["title"]),
  };

  return model;
}
