import { expect, test } from "vitest";
import type { Code } from "../src/api/schema";
import { translateReason, translateState } from "../src/i18n/serverTexts";
import en from "../src/i18n/words.en.json";
import { fillText } from "../src/i18n/texts";
import zh from "../src/i18n/words.zh.json";
import { exactText } from "../src/ui/safeText";
import { relativeTime, timeOf } from "../src/ui/timeFormat";

const places = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("both languages have the same codes and states, with the same parameters", () => {
  expect(Object.keys(zh.codes)).toEqual(Object.keys(en.codes));
  expect(Object.keys(zh.states)).toEqual(Object.keys(en.states));
  for (const code of Object.keys(en.codes) as Code[]) expect(places(zh.codes[code])).toEqual(places(en.codes[code]));
});

test("a reason contains its parameters, and a missing one shows as its name", () => {
  const params = { mode: "fast", allowed: "agent, ask" };
  expect(translateReason({ code: "unknown_mode", params }, "en")).toBe(
    "Unknown mode 'fast'. Choose one of: agent, ask.",
  );
  expect(translateReason({ code: "unknown_mode", params }, "zh")).toContain("'fast'");
  expect(translateReason({ code: "unknown_mode" }, "en")).toContain("(mode)");
});

test("a mode is shown by title, an unknown mode by name", () => {
  expect(translateReason({ code: "mode_waits", params: { mode: "supervised" } }, "zh")).toBe(
    "当前为“逐步确认”模式，需要你批准。",
  );
  expect(translateReason({ code: "mode_waits", params: { mode: "docs" } }, "en")).toContain("docs");
});

test("the status of a call is translated", () => {
  expect(translateReason({ code: "why_ended", params: { status: "denied" } }, "zh")).toBe("结果：不允许。");
  expect(translateReason({ code: "why_ended", params: { status: "executed" } }, "en")).toBe("Result: done.");
  expect(translateReason({ code: "model_auth", params: { status: 401, detail: "no" } }, "en")).toBe(
    "Invalid API key (401): no",
  );
  const params = { status: "executed", exit_status: 3 };
  expect(translateReason({ code: "why_ended", params }, "en")).toBe("Result: failed, exit code 3.");
  expect(translateReason({ code: "why_ended", params }, "zh")).toBe("结果：失败，退出代码 3。");
  expect(translateReason({ code: "call_decided", params }, "en")).not.toContain("done");
});

test("a state is translated, and idle is empty", () => {
  expect(translateState({ type: "idle" }, "en")).toBe("");
  expect(translateState({ type: "tool_auto_loop", depth: 2, tools_executed: 1 }, "en")).toBe("Continuing (step 2)…");
});

test("a text chooses singular or plural, and may contain the number", () => {
  const text = "{n|One call waits|These {n} calls wait} in {place}";
  expect(fillText(text, { n: 1, place: "here" })).toBe("One call waits in here");
  expect(fillText(text, { n: 3, place: "here" })).toBe("These 3 calls wait in here");
  expect(fillText("{n} 个", { n: 3 })).toBe("3 个");
});

test("untrusted parameters show hidden characters", () => {
  const reason = { code: "file_missing", params: { path: "a\u00a0b\u202e.txt" } } as const;
  for (const language of ["en", "zh"] as const)
    expect(translateReason(reason, language)).toContain("a⟨U+00A0⟩b⟨U+202E⟩.txt");
  expect(fillText("Open {name}", { name: "x\u2003y" })).toBe("Open x⟨U+2003⟩y");
});

test("formatted times and numbers contain no nonstandard blanks", () => {
  const at = new Date(2026, 0, 2, 15, 4).toISOString();
  for (const language of ["en", "zh"] as const)
    for (const words of [timeOf(at, language), relativeTime(at, language, Date.parse(at) + 7_200_000)])
      expect(exactText(words)).toBe(words);
});
