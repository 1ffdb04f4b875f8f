import { expect, test } from "vitest";
import type { Message } from "../src/api/types";
import { followUpOf, endingOf, nextStepAfter } from "../src/features/chat/answerEnding";

type Text = Extract<Message, { type: "text" }>;

const answer = (more: Partial<Text> = {}): Text => ({
  type: "text",
  message_id: "m",
  role: "assistant",
  timestamp: "2026-01-01T00:00:00Z",
  content: "So far",
  ...more,
});

test("incomplete answers are distinguished from complete ones", () => {
  expect(endingOf(answer({ finish_reason: "stop", ended: "complete" }))).toBe(null);
  expect(endingOf(answer({ finish_reason: "length" }))).toBe("length");
  expect(endingOf(answer({ finish_reason: "content_filter" }))).toBe("content_filter");
  expect(endingOf(answer({ finish_reason: "refusal" }))).toBe("refusal");
  expect(endingOf(answer({ finish_reason: "length", ended: "cancelled" }))).toBe("cancelled");
  expect(endingOf(answer({ finish_reason: "something new" }))).toBe(null);
  expect(endingOf(answer({ role: "user", finish_reason: "length" }))).toBe(null);
  expect(endingOf(null)).toBe(null);
});

test("a cut answer can be continued, a refused one needs an edit", () => {
  expect(["cut", "cancelled", "interrupted", "length"].map((each) => nextStepAfter(each as "cut"))).toEqual(
    Array(4).fill("continue"),
  );
  expect([nextStepAfter("content_filter"), nextStepAfter("refusal")]).toEqual(["edit", "edit"]);
});

test("the next step depends on the messages after the answer", () => {
  const error: Message = {
    type: "error",
    message_id: "e",
    role: "system",
    timestamp: "",
    reason: { code: "empty_answer", params: {} },
  };
  const mark: Message = { type: "system_control", message_id: "s", role: "system", timestamp: "", kind: "mode_switch" };
  expect(followUpOf([answer()], "m")).toBe("nothing");
  expect(followUpOf([answer(), mark], "m")).toBe("nothing");
  expect(followUpOf([answer(), mark, error], "m")).toBe("error");
  expect(followUpOf([answer(), answer({ message_id: "n" })], "m")).toBe("more");
});
