/** Texts of nested reasons, and of notes that the runtime stores. */
import { describe, expect, it } from "vitest";
import { isCode, translateReason } from "../src/i18n/serverTexts";

describe("a reason that holds reasons", () => {
  const left = [
    { code: "git_index" as const, params: { repository: "." } },
    { code: "undo_ignored" as const, params: { paths: "build/x" } },
  ];

  it("is one text in the reader's language", () => {
    const english = translateReason({ code: "undo_nothing", params: { left } }, "en");
    expect(english).toContain("The git index in . changed");
    expect(english).toContain("build/x");
    expect(english).not.toContain("{");
    expect(translateReason({ code: "undo_nothing", params: { left } }, "zh")).toContain("暂存区");
  });

  it("shows another list as it is", () => {
    expect(translateReason({ code: "undo_nothing", params: { left: ["a"] } }, "en")).toContain('["a"]');
  });
});

it("knows a code from another stage", () => {
  expect(isCode("messages_shortened")).toBe(true);
  expect(isCode("toString")).toBe(false);
});
