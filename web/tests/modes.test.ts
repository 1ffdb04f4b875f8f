import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallView } from "../src/api/schema";
import {
  callsToConfirm,
  defaultMode,
  effectiveMode,
  parseStoredMode,
  serializeMode,
} from "../src/features/modes/storedMode";

const MODES = ["agent", "supervised", "review", "plan", "ask", "docs"].map((name) => ({ name }));

test("a stored mode round-trips", () => {
  fc.assert(
    fc.property(fc.constantFrom(...MODES), fc.nat(), ({ name }, now) => {
      expect(parseStoredMode(serializeMode(name, now), MODES)).toEqual({ mode: name, updatedAt: now });
    }),
  );
});

test("an invalid stored mode is ignored", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.constant(null)), (stored) => {
      const parsed = parseStoredMode(stored, MODES);
      expect(parsed === null || MODES.some(({ name }) => name === parsed.mode)).toBe(true);
    }),
  );
  expect(parseStoredMode(serializeMode("gone", 1), MODES)).toBeNull();
  expect(parseStoredMode('{"mode": "plan"}', MODES)).toEqual({ mode: "plan", updatedAt: 0 });
});

test("while the modes are unknown, the stored mode counts", () => {
  expect(parseStoredMode(serializeMode("plan", 1), null)).toEqual({ mode: "plan", updatedAt: 1 });
  for (const stored of [null, "", "{", "[]", '{"mode": 5}']) expect(parseStoredMode(stored, null)).toBeNull();
});

test("the context's mode takes precedence over the stored mode and the default", () => {
  const remembered = { mode: "plan", updatedAt: 1 };
  expect(effectiveMode({ mode: "ask" }, remembered, "review")).toBe("ask");
  expect(effectiveMode(null, remembered, "review")).toBe("plan");
  expect(effectiveMode(null, null, "review")).toBe("review");
});

test("there is no default mode before the server has sent one", () => {
  expect(defaultMode([])).toBeNull();
  expect(effectiveMode(null, null, defaultMode([]))).toBeNull();
  const modes = MODES.map(({ name }) => ({ name, is_default: name === "supervised" }));
  expect(effectiveMode(null, null, defaultMode(modes))).toBe("supervised");
});

function waiting(id: string, { digest = `digest of ${id}`, dangerous = [] as string[], status = "pending" } = {}) {
  return { id, digest, dangerous, status } as unknown as CallView;
}
const ids = (calls: readonly CallView[]) => calls.map(({ id }) => id);

test("a switch needs confirmation for dangerous or unread calls", () => {
  const calls = [waiting("a"), waiting("b", { dangerous: ["deletes"] }), waiting("c")];
  const read = new Set(["digest of a", "digest of b"]);
  expect(ids(callsToConfirm(calls, read))).toEqual(["b", "c"]);
  expect(callsToConfirm([waiting("a")], read)).toEqual([]);
});

test("an approved call needs no confirmation", () => {
  expect(callsToConfirm([waiting("a", { status: "approved" })], new Set())).toEqual([]);
});

test("a confirmed switch needs another confirmation if a call was added or changed", () => {
  const none = new Set<string>();
  expect(callsToConfirm([waiting("a")], none, [waiting("a"), waiting("gone")])).toEqual([]);
  expect(ids(callsToConfirm([waiting("a"), waiting("b")], none, [waiting("a")]))).toEqual(["a", "b"]);
  expect(ids(callsToConfirm([waiting("a", { digest: "other" })], none, [waiting("a")]))).toEqual(["a"]);
});
