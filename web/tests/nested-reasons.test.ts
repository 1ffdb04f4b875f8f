/** Texts of nested reasons, and of notes that the runtime stores. */
import { describe, expect, it } from "vitest";
import { isCode, translateReason } from "../src/i18n/serverTexts";

describe("a reason that contains reasons", () => {
  const left = [
    { code: "git_index" as const, params: { repository: "." } },
    { code: "undo_ignored" as const, params: { paths: "build/x" } },
  ];

  it("is translated as a whole", () => {
    const english = translateReason({ code: "undo_nothing", params: { left } }, "en");
    expect(english).toContain("The git index in . changed");
    expect(english).toContain("build/x");
    expect(english).not.toContain("{");
    expect(translateReason({ code: "undo_nothing", params: { left } }, "zh")).toContain("暂存区");
  });

  it("leaves other lists as they are", () => {
    expect(translateReason({ code: "undo_nothing", params: { left: ["a"] } }, "en")).toContain('["a"]');
  });
});

it("distinguishes codes from other stages", () => {
  expect(isCode("messages_shortened")).toBe(true);
  expect(isCode("toString")).toBe(false);
});
