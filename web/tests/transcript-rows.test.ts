import { expect, test } from "vitest";
import type { Message } from "../src/api/types";
import { RowHeights } from "../src/features/chat/transcript/rowHeights";
import { mergeRanges } from "../src/features/chat/transcript/indexRanges";
import { createRowBuilder, rowsOf } from "../src/features/chat/transcript/rows";
import { spokenSummary } from "../src/features/chat/useAnswerAnnouncement";

const AT = "2026-01-01T00:00:00Z";
const userMessage = (id: string, turn = id): Message => ({
  type: "text",
  content: id,
  message_id: id,
  timestamp: AT,
  role: "user",
  metadata: { turn },
});
const answer = (id: string): Message => ({
  type: "text",
  content: id,
  message_id: id,
  timestamp: AT,
  role: "assistant",
});
const request = (id: string, ...calls: string[]): Message => ({
  type: "tool_request",
  message_id: id,
  timestamp: AT,
  role: "assistant",
  calls: calls.map((call) => ({ id: call, tool: "read_file", arguments: {}, status: "executed" })) as never,
});
const result = (call: string): Message =>
  ({
    type: "tool_result",
    message_id: `result of ${call}`,
    timestamp: AT,
    role: "tool",
    call_id: call,
    tool: "read_file",
    content: call,
  }) as never;

test("results join their call, files join their message, and other messages have their own row", () => {
  const rows = rowsOf([
    result("lost"),
    userMessage("a"),
    userMessage("file", "a"),
    request("b", "one", "two"),
    result("two"),
    result("one"),
    answer("c"),
  ]);
  expect(rows.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    "notice result of lost",
    "user a",
    "answer b",
    "answer c",
  ]);
  expect(rows[1]).toMatchObject({ messages: [{ message_id: "a" }, { message_id: "file" }] });
  expect(rows[2]).toMatchObject({ results: { one: { content: "one" }, two: { content: "two" } } });
});

test("incremental rows equal rows built at once, and unchanged rows stay the same objects", () => {
  const all = [
    userMessage("a"),
    request("b", "one"),
    result("one"),
    answer("c"),
    userMessage("d"),
    userMessage("file", "d"),
    request("e", "two"),
    result("two"),
    answer("f"),
  ];
  for (let from = 0; from < all.length; from++) {
    const make = createRowBuilder();
    for (let to = from; to <= all.length; to++) expect(make(all.slice(from, to))).toEqual(rowsOf(all.slice(from, to)));
    const before = make(all.slice(from));
    const after = make(all);
    expect(after).toEqual(rowsOf(all));
    const reusedCount = before.filter((row) => after.includes(row)).length;
    // The first row may have been incomplete.
    expect(reusedCount).toBeGreaterThanOrEqual(before.length - 1);
  }
});

test("each row begins where the previous one ends", () => {
  const heights = new RowHeights<{ id: string }>(() => 10);
  const stored = Array.from({ length: 100 }, (_, index) => ({ id: `${index}` }));
  heights.setRows(stored, [{ id: "end" }]);
  expect([heights.total, heights.indexAt(-5), heights.indexAt(25), heights.indexAt(1e9)]).toEqual([1010, 0, 2, 100]);
  heights.setMeasured("2", 50);
  expect([heights.top(3), heights.indexAt(69), heights.indexAt(70)]).toEqual([70, 2, 3]);
  heights.setRows([{ id: "older" }, ...stored], []);
  expect([heights.total, heights.indexOf("2"), heights.top(4), heights.indexOf("end")]).toEqual([
    1050,
    3,
    80,
    undefined,
  ]);
});

test("adjacent ranges are merged", () => {
  expect(
    mergeRanges([
      [5, 8],
      [0, 2],
      [2, 3],
      [7, 9],
      [4, 4],
    ]),
  ).toEqual([
    [0, 3],
    [5, 9],
  ]);
});

test("the spoken summary has no Markdown syntax and ends with a word", () => {
  expect(spokenSummary("# Land\n\n**in** `sight`")).toBe("Land in sight");
  expect(spokenSummary("See [north](https://example.org/) now\n\n| a | b |\n| --- | :-: |\n| 1 | 2 |")).toBe(
    "See north now a b 1 2",
  );
  expect(spokenSummary("word ".repeat(100))).toMatch(/^(word )+word…$/);
});
