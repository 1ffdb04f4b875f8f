import { afterEach, expect, test } from "vitest";
import { browserEnvironment } from "../src/environment";
import { createStream } from "../src/api/signalStream";
import { type Api, createApi } from "../src/api/http";
import type { MessagePage } from "../src/api/schema";
import type { Message } from "../src/api/types";
import { startRunner } from "../src/store/runner";
import { openQuestions, showsBanner, openTabs, visibleMessages } from "../src/store/selectors";
import { selectPendingCalls } from "../src/features/approvals/pendingCalls";
import type { State } from "../src/store/state";
import { type Store, createStore } from "../src/store/store";
import { wants } from "../src/store/wants";
import { makeHost } from "./serverProcess";

const undecided = (state: State, id: string) =>
  selectPendingCalls(state, id).flatMap(({ call, sent }) => (sent === null ? [call] : []));

const pieces = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}:${index} `);
const SCRIPT = {
  turn: [
    {
      deltas: pieces("first", 20),
      delta_delay: 0.005,
      calls: [{ tool: "execute", arguments: { command: "echo one > effects" } }],
    },
    { deltas: pieces("second", 400), delta_delay: 0.01 },
  ],
};

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of endings.splice(0).reverse()) await each();
});

function until(store: Store, condition: (state: State) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!condition(store.getSnapshot())) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = store.subscribe(look);
    look();
  });
}

async function allMessages(api: Api, context_id: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const query = { limit: 3, ...(before === undefined ? {} : { before: Number(before) }) };
    const page = (await api("GET /api/contexts/{context_id}/messages", { path: { context_id }, query })) as MessagePage;
    messages.unshift(...page.items);
    before = page.next ?? null;
  }
  return messages;
}

test(
  "the store converges with the real server, also when that is killed and restarted",
  { timeout: 60_000 },
  async () => {
    const host = await makeHost(SCRIPT);
    endings.push(host.clear, () => host.end("SIGKILL"));
    await host.start();
    const server = { fetch, base: host.base, headers: host.headers };
    const api = createApi(server, browserEnvironment);
    const store = createStore(browserEnvironment);
    const runner = startRunner(store, api, createStream(server, browserEnvironment), browserEnvironment);
    endings.push(() => runner.close());

    const { context_id: id } = await api("POST /api/contexts", { body: { mode: "supervised" } });
    runner.act({ kind: "activate", id });
    const shape = (state: State) => state.contexts[id]?.view.value;
    const isRest = (state: State) =>
      shape(state)?.current_state.type === "idle" &&
      wants(state).length === 0 &&
      Object.keys(state.outgoing).length === 0;
    await until(store, (state) => state.connection.status === "up" && isRest(state));

    const faults: string[] = [];
    const longest = new Map<string, string>();
    store.subscribe(() => {
      const visible = visibleMessages(store.getSnapshot(), id);
      const ids = [...visible.messages.map((each) => each.message_id), ...visible.streaming.map((each) => each.id)];
      if (new Set(ids).size !== ids.length) faults.push("twice");
      for (const { id: written, text } of visible.streaming) {
        if (!text.startsWith(longest.get(written) ?? "")) faults.push("shrunk");
        longest.set(written, text);
      }
    });

    const say = (content: string) => runner.act({ kind: "send", id, body: { payloads: [{ type: "text", content }] } });
    say("go");
    expect(visibleMessages(store.getSnapshot(), id).sending.length).toBe(1);
    await until(store, (state) => undecided(state, id).length === 1);
    const [call] = undecided(store.getSnapshot(), id);
    runner.act({
      kind: "decide",
      id,
      body: { decisions: [{ id: call!.id, verdict: "approve", digest: call!.digest }] },
    });

    await until(store, (state) =>
      visibleMessages(state, id).streaming.some((each) => each.sequence > 3 && each.text.startsWith("second")),
    );
    await host.end("SIGKILL");
    await until(store, showsBanner);
    const cut = [...longest].find(([, text]) => text.startsWith("second"))!;
    say("said while nobody listened");
    await host.start();
    await until(store, (state) => undecided(state, id).length === 1 && wants(state).length === 0);
    const interrupted = visibleMessages(store.getSnapshot(), id).messages.find((each) => each.message_id === cut[0]);
    expect(interrupted?.type === "text" && interrupted.content.startsWith(cut[1]) && interrupted.ended).toBe(
      "interrupted",
    );

    await host.end("SIGTERM");
    await host.start();
    await until(store, (state) => state.connection.status === "up" && wants(state).length === 0);
    runner.act({ kind: "mode", id, mode: "ask", shown: [] });
    await until(store, (state) => isRest(state) && shape(state)?.mode === "ask");

    const state = store.getSnapshot();
    expect(shape(state)).toEqual(await api("GET /api/contexts/{context_id}", { path: { context_id: id } }));
    const { open_contexts: open = [] } = await api("GET /api/session", {});
    expect(openTabs(state).map((tab) => [tab.id, tab.title])).toEqual(open.map((tab) => [tab.context_id, tab.title]));
    expect(visibleMessages(state, id).messages).toEqual(await allMessages(api, id));
    expect(visibleMessages(state, id)).toMatchObject({ sending: [], streaming: [], queued: [], hasOlder: false });
    expect(openQuestions(state, id)).toEqual([]);
    const sentMessages = visibleMessages(state, id).messages.filter(
      (each) => each.type === "text" && each.content === "said while nobody listened",
    );
    expect(sentMessages.length).toBe(1);
    expect(faults).toEqual([]);
  },
);
