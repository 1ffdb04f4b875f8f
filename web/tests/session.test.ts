import { expect, test } from "vitest";
import type { Problem, Session } from "../src/api/schema";
import { mainViewOf } from "../src/features/conversations/ContextError";
import type { StoreEvent } from "../src/store/events";
import { reduce } from "../src/store/reduce";
import { activeId, fallbackTab, preferencesOf, openTabs } from "../src/store/selectors";
import { type State, initialState, isStale } from "../src/store/state";
import { makeModel } from "./model";

const SESSION: Session = {
  user_id: "local",
  version: 1,
  active_context_id: "a",
  open_contexts: ["a", "b", "c"].map((context_id) => ({ context_id })),
  preferences: { theme: "light", font_size: 14 },
};
const REFUSED: Problem = { title: "", status: 409, code: "", detail: "no" };
const after = (...events: StoreEvent[]): State => {
  const sessionAnswered: StoreEvent = {
    type: "answered",
    kind: "session",
    pull: { kind: "session" },
    requestedAt: 0,
    answer: SESSION,
  };
  return [sessionAnswered, ...events].reduce((state, each) => reduce(state, { ...each, at: 0 }), initialState(0));
};
const ids = (state: State) => openTabs(state).map((tab) => tab.id);

test("a moved or closed tab shows at once, and is restored if the server refuses", () => {
  const isMoved: StoreEvent = { type: "sent", key: "1", command: { kind: "order", ids: ["c", "a", "b"] } };
  const isClosed: StoreEvent = { type: "sent", key: "2", command: { kind: "close", id: "a" } };
  expect(ids(after(isMoved, isClosed))).toEqual(["c", "b"]);
  expect(ids(after(isMoved, isClosed, { type: "refused", key: "2", problem: REFUSED }))).toEqual(["c", "a", "b"]);
  expect(ids(after(isMoved, { type: "refused", key: "1", problem: REFUSED }))).toEqual(["a", "b", "c"]);
});

test("a deleted conversation has no tab, and the main view says so", () => {
  const gone: StoreEvent = {
    type: "failed",
    pull: { kind: "context", id: "a" },
    requestedAt: 9,
    problem: { ...REFUSED, status: 404 },
  };
  expect(ids(after(gone))).toEqual(["b", "c"]);
  expect(mainViewOf(after(gone), "a")).toBe("gone");
});

test("a conversation deleted elsewhere stays selected, and leads to an open tab", () => {
  const session: Session = {
    ...SESSION,
    version: 2,
    active_context_id: "c",
    open_contexts: [{ context_id: "b" }, { context_id: "c" }],
  };
  const closed: StoreEvent = {
    type: "answered",
    kind: "session",
    pull: { kind: "session" },
    requestedAt: 9,
    answer: session,
  };
  const gone: StoreEvent = {
    type: "failed",
    pull: { kind: "context", id: "a" },
    requestedAt: 9,
    problem: { ...REFUSED, status: 404 },
  };
  expect(activeId(after(closed))).toBe("c");
  const state = after(gone, closed);
  expect([activeId(state), mainViewOf(state, "a"), fallbackTab(state, "a")]).toEqual(["a", "gone", "c"]);
});

const session = (version: number, ids: readonly string[]): Session => ({
  ...SESSION,
  version,
  open_contexts: ids.map((context_id) => ({ context_id })),
});
const acknowledged = (key: string, answer: Session): StoreEvent => ({
  type: "acknowledged",
  key,
  requestedAt: 2,
  answer: { kind: "session", session: answer },
});

test("a late response does not bring back a closed tab", () => {
  const opened = (key: string, id: string): StoreEvent => ({ type: "sent", key, command: { kind: "activate", id } });
  const state = after(
    opened("1", "b"),
    opened("2", "x"),
    // "x" was opened as version 2 and closed as version 3.
    acknowledged("1", session(4, ["a", "b", "c"])),
    acknowledged("2", session(2, ["a", "b", "c", "x"])),
  );
  expect([activeId(state), Object.keys(state.contexts).sort()]).toEqual(["a", ["a", "b", "c"]]);
});

test("a recreated conversation is shown again, despite late responses", () => {
  const unknown = (requestedAt: number): StoreEvent => ({
    type: "failed",
    pull: { kind: "context", id: "a" },
    requestedAt,
    problem: { ...REFUSED, status: 404 },
  });
  const pulled = (version: number): StoreEvent => ({
    type: "answered",
    kind: "session",
    pull: { kind: "session" },
    requestedAt: 9,
    answer: session(version, ["a", "b"]),
  });
  expect(after(unknown(9)).contexts.a?.isGone).toBe(true);
  expect(after(unknown(9), pulled(1)).contexts.a?.isGone).toBe(true);
  expect(after(unknown(9), pulled(2)).contexts.a?.isGone).toBe(false);
  const state = after(pulled(2), unknown(1));
  expect([state.contexts.a?.isGone, isStale(state.contexts.a!.view)]).toEqual([false, true]);
});

test("opening a deleted conversation shows that it is gone, in any order of responses", () => {
  const opened: StoreEvent = { type: "sent", key: "1", command: { kind: "activate", id: "x" } };
  const refused: StoreEvent = { type: "refused", key: "1", problem: { ...REFUSED, status: 404 } };
  const unknown: StoreEvent = {
    type: "failed",
    pull: { kind: "context", id: "x" },
    requestedAt: 9,
    problem: { ...REFUSED, status: 404 },
  };
  for (const answers of [[refused], [refused, unknown], [unknown, refused]])
    expect(mainViewOf(after(opened, ...answers), "x")).toBe("gone");
  expect(activeId(after(opened, refused))).toBe("x");
});

test("a new conversation is selected at once", () => {
  const state = after({ type: "sent", key: "1", command: { kind: "activate", id: null } });
  expect(activeId(state)).toBe(null);
  expect(mainViewOf(state, activeId(state))).toBe("new");
});

test("an error is distinguished from a conversation that is still loading", () => {
  expect(mainViewOf(initialState(0), null)).toBe("loading");
  expect(mainViewOf(after(), "a")).toBe("loading");
  const refused: StoreEvent = {
    type: "failed",
    pull: { kind: "context", id: "a" },
    requestedAt: 9,
    problem: { ...REFUSED, status: 500 },
  };
  expect(mainViewOf(after(refused), "a")).toBe("problem");
  expect(mainViewOf(after({ type: "locked_out", problem: { ...REFUSED, status: 401 } }), "a")).toBe("refused");
  const model = makeModel(() => {});
  model.create("a", 0);
  const pulled: StoreEvent = {
    type: "answered",
    kind: "context",
    pull: { kind: "context", id: "a" },
    requestedAt: 9,
    answer: model.shape("a"),
  };
  expect(mainViewOf(after(pulled), "a")).toBe("new");
});

test("a preference applies at once, and is reverted if it is refused", () => {
  const chosen: StoreEvent[] = [
    { type: "sent", key: "1", command: { kind: "preferences", body: { theme: "dark" } } },
    { type: "sent", key: "2", command: { kind: "preferences", body: { font_size: 18 } } },
  ];
  expect(preferencesOf(after(...chosen))).toEqual({ theme: "dark", font_size: 18 });
  expect(preferencesOf(after(...chosen, { type: "refused", key: "1", problem: REFUSED }))).toEqual({
    theme: "light",
    font_size: 18,
  });
  expect(preferencesOf(initialState(0))).toBeUndefined();
});
