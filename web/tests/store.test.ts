import fc from "fast-check";
import { expect, test } from "vitest";
import type { ContextView } from "../src/api/schema";
import type { Signal, State as ContextState } from "../src/api/types";
import type { StoreEvent } from "../src/store/events";
import { reduce } from "../src/store/reduce";
import { type Language, translateState } from "../src/i18n/serverTexts";
import { activeId, canSend, isBusy, modeOf, showsBanner, visibleMessages } from "../src/store/selectors";
import { selectPendingCalls } from "../src/features/approvals/pendingCalls";
import { isEqual, share } from "../src/store/structuralSharing";
import { type State, initialState } from "../src/store/state";
import { createStore } from "../src/store/store";
import { nextDue, wants } from "../src/store/wants";
import { makeClock } from "./clock";
import { makeModel } from "./model";

const undecided = (state: State, id: string) =>
  selectPendingCalls(state, id).flatMap(({ call, sent }) => (sent === null ? [call] : []));

const IDLE: ContextState = { type: "idle" };
const THINKING: ContextState = { type: "awaiting_llm_first_chunk" };
const BASE = (() => {
  const model = makeModel(() => {});
  model.create("a", 0);
  return model.shape("a");
})();
const shape = (change: Partial<ContextView>): ContextView => ({ ...BASE, ...change });

/** A store without a runner: the test dispatches all events. */
function story(...events: StoreEvent[]) {
  let state: State = initialState(0);
  const take = (...more: (StoreEvent & { at?: number })[]) => {
    for (const each of more) state = reduce(state, { at: state.now, ...each });
    return state;
  };
  const pulled = (requestedAt: number, answer: ContextView): StoreEvent => ({
    type: "answered",
    kind: "context",
    pull: { kind: "context", id: "a" },
    requestedAt,
    answer,
  });
  const receive = (signal: Signal) => take({ type: "signal", signal });
  take({
    type: "answered",
    kind: "session",
    pull: { kind: "session" },
    requestedAt: 0,
    answer: {
      user_id: "local",
      version: 1,
      active_context_id: "a",
      open_contexts: [{ context_id: "a" }, { context_id: "b" }],
    },
  });
  take(pulled(state.tick, BASE), ...events);
  return {
    take,
    pulled,
    receive,
    get state() {
      return state;
    },
    get a() {
      return state.contexts.a!;
    },
  };
}

const wantsContext = (state: State) => wants(state).some((pull) => pull.kind === "context" && pull.id === "a");

test("an older response never overwrites a newer one, in any order", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.take({ type: "clock" });
  here.take(
    here.pulled(requestedAt + 1, shape({ version: 5, title: "new" })),
    here.pulled(requestedAt, shape({ version: 4, title: "old" })),
  );
  expect(here.a.view.value?.title).toBe("new");
  here.take(here.pulled(requestedAt, shape({ version: 6, title: "newest" })));
  expect(here.a.view.value?.title).toBe("newest");
});

test("a server restored from a backup is believed", () => {
  const here = story();
  here.take(here.pulled(here.state.tick, shape({ version: 9 })));
  here.take(here.pulled(here.state.tick, shape({ version: 3, title: "restored" })));
  expect(here.a.view.value?.title).toBe("restored");
});

test("a state signalled during a pull stays until the order is certain", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.receive({ event: "StateChanged", context_id: "a", version: 1, state: THINKING });
  here.take(here.pulled(requestedAt, shape({ current_state: IDLE })));
  expect(here.a.view.value?.current_state).toEqual(THINKING);
  expect(wantsContext(here.state)).toBe(false);
  expect(nextDue(here.state)).toBe(300);
  const later = here.take({ type: "clock", at: 300 });
  expect(wantsContext(later)).toBe(true);
  expect(wantsContext(here.receive({ event: "StateChanged", context_id: "a", version: 1, state: IDLE }))).toBe(false);
});

test("a message requested earlier never replaces one requested later", () => {
  const here = story();
  const main = { name: "main", key: "k", created_at: "", length: 1, message_ids: ["m"] };
  here.take(here.pulled(here.state.tick, shape({ version: 2, branches: { main } })));
  const messagesAnswered = (requestedAt: number, content: string): StoreEvent => ({
    type: "answered",
    kind: "messages",
    requestedAt,
    pull: { kind: "messages", id: "a", ids: ["m"] },
    answer: [{ type: "text", message_id: "m", role: "user", timestamp: "", content }],
  });
  const requestedAt = here.state.tick;
  here.take(messagesAnswered(requestedAt, "new"), messagesAnswered(requestedAt - 1, "old"));
  expect(visibleMessages(here.state, "a").messages).toMatchObject([{ content: "new" }]);
});

test("repeated, late or missing deltas never corrupt a text", () => {
  const here = story();
  here.receive({ event: "ContentDelta", context_id: "a", version: 1, message_id: "m", sequence: 3 });
  const answer = (from: number, ...deltas: string[]): StoreEvent => ({
    type: "answered",
    kind: "text",
    requestedAt: here.state.tick,
    pull: { kind: "text", id: "a", message: "m", from },
    answer: deltas.map((delta, index) => ({ sequence: from + index + 1, delta })),
  });
  here.take(answer(0, "a", "b"), answer(0, "a", "b"), answer(3, "d"), answer(1, "b", "c"));
  expect(here.a.streaming.m).toMatchObject({ text: "abc", sequence: 3 });
  expect(wants(here.state)).toEqual([{ kind: "context", id: "b" }]);
});

test("a late delta of a finished message starts no text", () => {
  const here = story();
  here.take(here.pulled(here.state.tick, shape({ version: 4 })));
  here.receive({ event: "ContentDelta", context_id: "a", version: 3, message_id: "m", sequence: 3 });
  expect(here.a.streaming).toEqual({});
});

test("a text that started after the request survives the response", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.receive({ event: "ContentDelta", context_id: "a", version: 1, message_id: "m", sequence: 1 });
  here.take(here.pulled(requestedAt, BASE));
  expect(Object.keys(here.a.streaming)).toEqual(["m"]);
  here.take(here.pulled(here.state.tick, BASE));
  expect(here.a.streaming).toEqual({});
});

test("a deleted context stays closed, despite late responses", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.receive({ event: "ContextChanged", context_id: "a", version: 2, fields: ["deleted"] });
  expect(wantsContext(here.state)).toBe(true);
  const problem = { title: "", status: 404, code: "unknown_context", detail: "" };
  here.take({ type: "failed", pull: { kind: "context", id: "a" }, requestedAt: here.state.tick, problem });
  expect(here.a.isGone).toBe(true);
  here.take(here.pulled(requestedAt, shape({ version: 2 })));
  expect(here.a.isGone).toBe(true);
  expect(canSend(here.take({ type: "up" }), "a")).toBe("no");
});

test("an unreadable context gives the reason, and is fetched again only after a change", () => {
  const here = story();
  here.receive({ event: "ContextChanged", context_id: "a", version: 2, fields: ["mode"] });
  const problem = { title: "", status: 422, code: "damaged", detail: "" };
  here.take({ type: "failed", pull: { kind: "context", id: "a" }, requestedAt: here.state.tick, problem });
  expect(here.a.problem).toEqual(problem);
  expect(wantsContext(here.state)).toBe(false);
  expect(wantsContext(here.receive({ event: "ContextChanged", context_id: "a", version: 3, fields: ["mode"] }))).toBe(
    true,
  );
});

test("the banner shows after three seconds offline, and disappears at once", () => {
  const here = story({ type: "up" });
  expect(showsBanner(here.take({ type: "down", at: 1_000 }))).toBe(false);
  expect(nextDue(here.state)).toBe(4_000);
  expect(canSend(here.state, "a")).toBe("no");
  expect(showsBanner(here.take({ type: "clock", at: 3_999 }))).toBe(false);
  expect(showsBanner(here.take({ type: "clock", at: 4_000 }))).toBe(true);
  expect(showsBanner(here.take({ type: "up" }))).toBe(false);
});

test("unconfirmed decisions and mode switches show until the server confirms them", () => {
  const call = { id: "c", status: "pending" } as ContextView["pending_tool_calls"][number];
  const here = story();
  here.take(here.pulled(here.state.tick, shape({ pending_tool_calls: [call] })));
  here.take({
    type: "sent",
    key: "k",
    command: { kind: "decide", id: "a", body: { decisions: [{ id: "c", verdict: "approve" }] } },
  });
  here.take({ type: "sent", key: "l", command: { kind: "mode", id: "a", mode: "plan", shown: [] } });
  const now = () => [undecided(here.state, "a").length, modeOf(here.state, "a")];
  expect(now()).toEqual([0, "plan"]);
  const requestedAt = here.state.tick;
  for (const key of ["k", "l"]) here.take({ type: "acknowledged", key, requestedAt, answer: { kind: "done" } });
  here.take(here.pulled(requestedAt, shape({ version: 1, pending_tool_calls: [call] })));
  expect(now()).toEqual([0, "plan"]);
  here.take(here.pulled(here.state.tick, shape({ version: 2, mode: "plan" })));
  expect([...now(), Object.keys(here.state.outgoing).length]).toEqual([0, "plan", 0]);
});

test("a refused message stays with its reason until it is dismissed", () => {
  const here = story();
  here.take({ type: "sent", key: "k", command: { kind: "send", id: "a", body: { payloads: [] } } });
  const problem = { title: "", status: 409, code: "turn_active", detail: "busy" };
  here.take({ type: "refused", key: "k", problem });
  expect(visibleMessages(here.state, "a").sending[0]?.problem).toEqual(problem);
  expect(visibleMessages(here.take({ type: "dismissed", key: "k" }), "a").sending).toEqual([]);
});

test("texts, busy state and sending follow the state", () => {
  const here = story({ type: "up" });
  const wordsOf = (language: Language) => translateState(here.state.contexts.a!.view.value!.current_state, language);
  expect([wordsOf("en"), isBusy(here.state, "a"), canSend(here.state, "a")]).toEqual(["", false, "now"]);
  here.receive({ event: "StateChanged", context_id: "a", version: 1, state: THINKING });
  expect([wordsOf("zh"), isBusy(here.state, "a"), canSend(here.state, "a")]).toEqual(["正在思考…", true, "later"]);
});

test("a selection notifies only about its own changes", () => {
  const clock = makeClock();
  const store = createStore(clock);
  const notified: string[] = [];
  const slices = {
    connection: store.select((state) => state.connection),
    shown: store.select((state) => visibleMessages(state, "a")),
  };
  for (const [name, slice] of Object.entries(slices)) slice.subscribe(() => notified.push(name));
  const before = slices.shown.getSnapshot();
  store.dispatch({ type: "clock" });
  store.dispatch({ type: "up" });
  store.dispatch({ type: "up" });
  expect(notified).toEqual(["connection"]);
  expect(slices.shown.getSnapshot()).toBe(before);
});

test("an unchanged response keeps the same objects", () => {
  const here = story();
  const before = here.a.view.value;
  here.take(here.pulled(here.state.tick, structuredClone(BASE)));
  expect(here.a.view.value).toBe(before);
  here.take(here.pulled(here.state.tick, structuredClone(shape({ version: 2, title: "other" }))));
  expect(here.a.view.value?.branches).toBe(before?.branches);
});

test("sharing returns the new value, with the old objects where nothing changed", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (old, fresh) => {
      expect(share(old, fresh)).toEqual(fresh);
      expect(share(old, structuredClone(old))).toBe(old);
      expect(isEqual(old, structuredClone(old), 50)).toBe(true);
    }),
  );
});

test("two browser tabs share the session, but select independently", () => {
  const here = story();
  const session = (version: number, active: string | null, ...open: string[]): StoreEvent => ({
    type: "answered",
    kind: "session",
    pull: { kind: "session" },
    requestedAt: here.state.tick,
    answer: {
      user_id: "local",
      version,
      active_context_id: active,
      open_contexts: open.map((context_id) => ({ context_id })),
    },
  });
  expect(activeId(here.state)).toBe("a");
  here.take(session(2, "b", "a", "b")); // the other tab selected it
  expect(activeId(here.state)).toBe("a");
  here.take({ type: "sent", key: "k", command: { kind: "activate", id: "c" } }, session(3, "b", "a", "b"));
  expect(activeId(here.state)).toBe("c");
  here.take({ type: "refused", key: "k", problem: { title: "", status: 409, code: "too_many_tabs", detail: "" } });
  expect(activeId(here.state)).toBe("b");
  here.take(session(4, "a", "a")); // the other tab closed it
  expect(activeId(here.state)).toBe("a");
  here.take({ type: "sent", key: "n", command: { kind: "activate", id: null } }, session(5, "a", "a"));
  expect(activeId(here.state)).toBeNull();
});
