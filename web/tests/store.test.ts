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
function story(...happenings: StoreEvent[]) {
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
  const told = (signal: Signal) => take({ type: "signal", signal });
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
  take(pulled(state.tick, BASE), ...happenings);
  return {
    take,
    pulled,
    told,
    get state() {
      return state;
    },
    get a() {
      return state.contexts.a!;
    },
  };
}

const wantsContext = (state: State) => wants(state).some((pull) => pull.kind === "context" && pull.id === "a");

test("an answer that is older than what is there never overwrites it, whichever comes first", () => {
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

test("a server that was put back to an earlier day is believed", () => {
  const here = story();
  here.take(here.pulled(here.state.tick, shape({ version: 9 })));
  here.take(here.pulled(here.state.tick, shape({ version: 3, title: "restored" })));
  expect(here.a.view.value?.title).toBe("restored");
});

test("a state that is told while the context is pulled stays, until it is certain which came last", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.told({ event: "StateChanged", context_id: "a", version: 1, state: THINKING });
  here.take(here.pulled(requestedAt, shape({ current_state: IDLE })));
  expect(here.a.view.value?.current_state).toEqual(THINKING);
  expect(wantsContext(here.state)).toBe(false);
  expect(nextDue(here.state)).toBe(300);
  const later = here.take({ type: "clock", at: 300 });
  expect(wantsContext(later)).toBe(true);
  expect(wantsContext(here.told({ event: "StateChanged", context_id: "a", version: 1, state: IDLE }))).toBe(false);
});

test("a message that was asked for earlier never replaces one that was asked for later", () => {
  const here = story();
  const main = { name: "main", key: "k", created_at: "", length: 1, message_ids: ["m"] };
  here.take(here.pulled(here.state.tick, shape({ version: 2, branches: { main } })));
  const found = (requestedAt: number, content: string): StoreEvent => ({
    type: "answered",
    kind: "messages",
    requestedAt,
    pull: { kind: "messages", id: "a", ids: ["m"] },
    answer: [{ type: "text", message_id: "m", role: "user", timestamp: "", content }],
  });
  const requestedAt = here.state.tick;
  here.take(found(requestedAt, "new"), found(requestedAt - 1, "old"));
  expect(visibleMessages(here.state, "a").messages).toMatchObject([{ content: "new" }]);
});

test("pieces of a text that come twice, late or with a gap never spoil it", () => {
  const here = story();
  here.told({ event: "ContentDelta", context_id: "a", version: 1, message_id: "m", sequence: 3 });
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

test("a late word of a message that was finished long ago begins no text", () => {
  const here = story();
  here.take(here.pulled(here.state.tick, shape({ version: 4 })));
  here.told({ event: "ContentDelta", context_id: "a", version: 3, message_id: "m", sequence: 3 });
  expect(here.a.streaming).toEqual({});
});

test("a text that began after the context was asked for outlives its answer", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.told({ event: "ContentDelta", context_id: "a", version: 1, message_id: "m", sequence: 1 });
  here.take(here.pulled(requestedAt, BASE));
  expect(Object.keys(here.a.streaming)).toEqual(["m"]);
  here.take(here.pulled(here.state.tick, BASE));
  expect(here.a.streaming).toEqual({});
});

test("a context that was deleted closes, and no late answer brings it back", () => {
  const here = story();
  const requestedAt = here.state.tick;
  here.told({ event: "ContextChanged", context_id: "a", version: 2, fields: ["deleted"] });
  expect(wantsContext(here.state)).toBe(true);
  const problem = { title: "", status: 404, code: "unknown_context", detail: "" };
  here.take({ type: "failed", pull: { kind: "context", id: "a" }, requestedAt: here.state.tick, problem });
  expect(here.a.isGone).toBe(true);
  here.take(here.pulled(requestedAt, shape({ version: 2 })));
  expect(here.a.isGone).toBe(true);
  expect(canSend(here.take({ type: "up" }), "a")).toBe("no");
});

test("a context that cannot be read says why, and is asked for again only when something changes", () => {
  const here = story();
  here.told({ event: "ContextChanged", context_id: "a", version: 2, fields: ["mode"] });
  const problem = { title: "", status: 422, code: "damaged", detail: "" };
  here.take({ type: "failed", pull: { kind: "context", id: "a" }, requestedAt: here.state.tick, problem });
  expect(here.a.problem).toEqual(problem);
  expect(wantsContext(here.state)).toBe(false);
  expect(wantsContext(here.told({ event: "ContextChanged", context_id: "a", version: 3, fields: ["mode"] }))).toBe(
    true,
  );
});

test("the banner comes after three seconds without a connection, and goes at once", () => {
  const here = story({ type: "up" });
  expect(showsBanner(here.take({ type: "down", at: 1_000 }))).toBe(false);
  expect(nextDue(here.state)).toBe(4_000);
  expect(canSend(here.state, "a")).toBe("no");
  expect(showsBanner(here.take({ type: "clock", at: 3_999 }))).toBe(false);
  expect(showsBanner(here.take({ type: "clock", at: 4_000 }))).toBe(true);
  expect(showsBanner(here.take({ type: "up" }))).toBe(false);
});

test("what is being decided or switched shows so at once, and until the server has said what became of it", () => {
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

test("words, business and leave to send follow the state", () => {
  const here = story({ type: "up" });
  const wordsOf = (language: Language) => translateState(here.state.contexts.a!.view.value!.current_state, language);
  expect([wordsOf("en"), isBusy(here.state, "a"), canSend(here.state, "a")]).toEqual(["", false, "now"]);
  here.told({ event: "StateChanged", context_id: "a", version: 1, state: THINKING });
  expect([wordsOf("zh"), isBusy(here.state, "a"), canSend(here.state, "a")]).toEqual(["正在思考…", true, "later"]);
});

test("a slice tells only of what changes it", () => {
  const clock = makeClock();
  const store = createStore(clock);
  const heard: string[] = [];
  const slices = {
    connection: store.select((state) => state.connection),
    shown: store.select((state) => visibleMessages(state, "a")),
  };
  for (const [name, slice] of Object.entries(slices)) slice.subscribe(() => heard.push(name));
  const before = slices.shown.getSnapshot();
  store.dispatch({ type: "clock" });
  store.dispatch({ type: "up" });
  store.dispatch({ type: "up" });
  expect(heard).toEqual(["connection"]);
  expect(slices.shown.getSnapshot()).toBe(before);
});

test("what is pulled again and is the same stays the same object", () => {
  const here = story();
  const before = here.a.view.value;
  here.take(here.pulled(here.state.tick, structuredClone(BASE)));
  expect(here.a.view.value).toBe(before);
  here.take(here.pulled(here.state.tick, structuredClone(shape({ version: 2, title: "other" }))));
  expect(here.a.view.value?.branches).toBe(before?.branches);
});

test("sharing gives what is new, and the old object exactly where nothing changed", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (old, fresh) => {
      expect(share(old, fresh)).toEqual(fresh);
      expect(share(old, structuredClone(old))).toBe(old);
      expect(isEqual(old, structuredClone(old), 50)).toBe(true);
    }),
  );
});

test("two pages share their tabs, but each looks at its own", () => {
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
