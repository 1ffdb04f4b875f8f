import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallView, ContextSummary, Problem } from "../src/api/schema";
import { validateArguments } from "../src/features/approvals/argumentValidation";
import { subagentsOf, uuidTime } from "../src/features/tool-calls/subagentsOf";
import {
  argumentsBeside,
  argumentsOf,
  durationText,
  summaryOf,
  contentOf,
  risksOf,
  titleOf,
} from "../src/features/tool-calls/callText";
import { callsDecidedElsewhere, selectedCalls, remainingDecisions } from "../src/features/approvals/pendingCalls";
import { countdownText, remainingElevation } from "../src/features/modes/remainingElevation";

const callOf = (id: string, more: Partial<CallView> = {}): CallView => ({
  id,
  message_id: "m",
  tool: "execute",
  display_name: "Execute",
  arguments: { command: "date" },
  digest: `d-${id}`,
  effect: "mutating",
  read_only: false,
  status: "pending",
  requested_at: "2026-01-01T00:00:00Z",
  ...more,
});
const problem = (code: string, call: string): Problem => ({
  title: "",
  status: 409,
  code,
  detail: "",
  params: { call_id: call },
});

test("decisions are sent again without the late one, and this terminates", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 8 }), fc.nat(20), (ids, late) => {
      const decisions = ids.map((id) => ({ id: String(id), verdict: "approve", digest: "d" }) as const);
      const rest = remainingDecisions({ key: "k", decisions, problem: problem("call_decided", String(late)) });
      if (ids.includes(late)) expect(rest).toEqual(decisions.filter(({ id }) => id !== String(late)));
      else expect(rest).toBeNull();
    }),
  );
  expect(
    remainingDecisions({
      key: "k",
      decisions: [{ id: "a", verdict: "approve" }],
      problem: problem("store_refused", "a"),
    }),
  ).toBeNull();
});

test("a call that disappears was decided elsewhere, unless it was decided here", () => {
  const [a, b, c] = [callOf("a"), callOf("b"), callOf("c")];
  expect(callsDecidedElsewhere([a, b, c], [c], new Set(["a"]))).toEqual([b]);
});

test("the selection contains the ticked pending calls, or all if none is ticked", () => {
  const calls = [callOf("a"), callOf("b")];
  expect(selectedCalls(calls, new Set(["b", "gone"])).map(({ id }) => id)).toEqual(["b"]);
  expect(selectedCalls(calls, new Set(["gone"]))).toEqual(calls);
});

test("the summary of a call is its command or path on one line", () => {
  expect(summaryOf({ arguments: { path: "/w/src/a.py", content: "x" } }, "/w")).toBe("src/a.py");
  expect(summaryOf({ arguments: { path: "/where/a.py" } }, "/w")).toBe("/where/a.py");
  expect(summaryOf({ arguments: { command: "ls\n  -l \u202e" } }, null)).toBe("ls -l ⟨U+202E⟩");
  expect(summaryOf({ arguments: { command: "rm\u00a0-rf\u2003x" } }, null)).toBe("rm⟨U+00A0⟩-rf⟨U+2003⟩x");
  expect(summaryOf({ arguments: "no object" }, null)).toBe("no object");
  expect(argumentsOf({ arguments: [1] })).toEqual({ arguments: [1] });
});

test("a path in a summary shows its line ends", () => {
  expect(summaryOf({ arguments: { path: "/w/a\n/etc/passwd " } }, "/w")).toBe("a⟨U+000A⟩/etc/passwd⟨U+0020⟩");
});

test("the content of a call is its diff, its command, or a text", () => {
  expect(contentOf(callOf("a", { preview: "date" }))).toEqual({ kind: "argument", name: "command", text: "date" });
  const diff = "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b";
  const ofKind = (preview_kind: CallView["preview_kind"]) =>
    contentOf(callOf("a", { preview: diff, ...(preview_kind === undefined ? {} : { preview_kind }) }));
  expect(ofKind("file_change")).toEqual({ kind: "diff", of: "file", text: diff });
  expect(ofKind("definition_change")).toEqual({ kind: "diff", of: "definition", text: diff });
  expect(ofKind("text")).toEqual({ kind: "diff", of: "unknown", text: diff });
  expect(ofKind(undefined)).toEqual({ kind: "diff", of: "unknown", text: diff });
  expect(contentOf(callOf("a", { preview: "f: 9 lines become 8" }))?.kind).toBe("text");
  expect(contentOf(callOf("a"))).toBeNull();
});

test("the preview of an MCP call does not repeat its arguments", () => {
  const args = { command: "date", options: { deep: [1, "two"] } };
  const json = JSON.stringify(args, null, 2);
  const contentFor = (preview: string, more = {}) => contentOf(callOf("a", { arguments: args, preview, ...more }));
  expect(contentFor(json)).toBeNull();
  expect(contentFor(`The tool has changed.\n\n${json}`)).toEqual({ kind: "text", text: "The tool has changed." });
  // The preview differs from the arguments, so it must be read.
  expect(contentFor(`{"command": "other"}`)?.kind).toBe("text");
  // A browser would round the digits.
  expect(contentFor(json, { dangerous: ["long numbers"] })?.kind).toBe("text");
});

test("an argument is left out only if the server says that the diff of a file shows it in full", () => {
  const preview = "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b";
  const args = { path: "f", content: "b\n", note: "x\ny", options: { deep: 1 } };
  const names = (more: Partial<CallView>) => {
    const call = callOf("a", { arguments: args, preview, shown_arguments: ["path", "content"], ...more });
    return argumentsBeside(call, contentOf(call)).map(([name]) => name);
  };
  const all = Object.keys(args);
  expect(names({ preview_kind: "file_change" })).toEqual(["note", "options"]);
  expect(names({ preview_kind: "file_change", dangerous: ["not shown whole"] })).toEqual(all);
  expect(names({ preview_kind: "file_change", shown_arguments: [] })).toEqual(all);
  expect(names({ preview_kind: "definition_change" })).toEqual(all);
  expect(names({ preview_kind: "text" })).toEqual(all);
  expect(names({})).toEqual(all);
});

test("titles and risks are translated, and an unknown risk is shown", () => {
  expect(titleOf({ tool: "execute", display_name: "Execute" }, "zh")).toBe("运行命令");
  expect(titleOf({ tool: "toString", display_name: "To String" }, "en")).toBe("To String");
  expect(risksOf({ dangerous: ["delete", "odd\u200b"] }, "en")).toEqual([
    "Deletes files.",
    "Flagged by the tool: odd⟨U+200B⟩.",
  ]);
  expect([40, 1_500, 42_000, 125_000].map((each) => durationText(each, "en"))).toEqual([
    "40 ms",
    "1.5 s",
    "42 s",
    "2 min 5 s",
  ]);
});

const SCHEMA = {
  type: "object",
  properties: { command: { type: "string" }, timeout: { anyOf: [{ type: "number" }, { type: "null" }] } },
  required: ["command"],
  additionalProperties: false,
};

test.each([
  ["{", "not_json"],
  ["[]", "not_object"],
  ['{"command": "date"}', "unchanged"],
  ['{"timeout": 3}', "missing"],
  ['{"command": "date", "colour": 1}', "unknown"],
  ['{"command": 3}', "type"],
  ['{"command": "date", "timeout": "x"}', "type"],
  ['{"command": "date", "timeout": null}', "valid"],
] as const)("edited arguments %s are %s", (text, is) => {
  expect(validateArguments(text, { command: "date" }, SCHEMA).kind).toBe(is);
});

test("without a schema, any changed object is valid", () => {
  expect(validateArguments('{"anything": 1}', {}, null).kind).toBe("valid");
});

test("a sub-agent belongs to the call during which it was created", () => {
  const createdAt = (at: string): ContextSummary => ({
    context_id: `${Date.parse(at)
      .toString(16)
      .padStart(12, "0")
      .replace(/^(.{8})/, "$1-")}-7000-8000-000000000000`,
  });
  const children = [createdAt("2026-01-01T00:00:01Z"), createdAt("2026-01-01T00:00:05Z")];
  expect(uuidTime(children[0]?.context_id ?? "")).toBe(Date.parse("2026-01-01T00:00:01Z"));
  expect(subagentsOf({ started_at: "2026-01-01T00:00:04Z", finished_at: "2026-01-01T00:00:09Z" }, children)).toEqual(
    children.slice(1),
  );
  expect(subagentsOf({}, children)).toEqual([]);
});

test("the remaining elevation is counted, and is null when its time is over", () => {
  const base = { by: "local", at: "", runtime: "r" };
  expect(remainingElevation({ ...base, calls_left: 2 }, 0)).toEqual({ kind: "calls", n: 2 });
  expect(remainingElevation({ ...base, turn: "t" }, 0)).toEqual({ kind: "turn" });
  expect(remainingElevation({ ...base, until: "1970-01-01T00:10:00Z" }, 5_000)).toEqual({
    kind: "time",
    clock: "9:55",
  });
  expect(remainingElevation({ ...base, until: "1970-01-01T00:10:00Z" }, 600_000)).toBeNull();
  expect(countdownText(3_750)).toBe("1:02:30");
});

test("a copy into a folder is described as possibly replacing files", () => {
  expect(risksOf({ dangerous: ["overwrite"] }, "en")).toEqual(["May overwrite existing files."]);
  expect(risksOf({ dangerous: ["overwrite"] }, "zh")).toEqual(["可能会覆盖已有文件。"]);
});
