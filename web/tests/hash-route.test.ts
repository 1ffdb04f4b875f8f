import { expect, test } from "vitest";
import { contextIdIn, historyStep } from "../src/app/hashRoute";

test("a hash names a conversation, a new one, or nothing", () => {
  expect(contextIdIn("#/c/abc-1_2")).toBe("abc-1_2");
  expect(contextIdIn("#/c/work~anna")).toBe("work~anna");
  expect(contextIdIn("#/new")).toBeNull();
  for (const hash of [
    "",
    "#",
    "#/c/",
    "#/c/a/b",
    "#/c/a b",
    `#/c/${"a".repeat(65)}`,
    "#/c/a~",
    "#/c/a~b~c",
    "#javascript:1",
  ])
    expect(contextIdIn(hash)).toBeUndefined();
});

test("navigation adds a history entry, except from a closed conversation", () => {
  expect(historyStep("b", "#/c/a", ["a", "b"])).toBe("push");
  expect(historyStep(null, "#/c/a", ["a"])).toBe("push");
  expect(historyStep("b", "#/new", ["b"])).toBe("push");
  expect(historyStep("b", "#/c/deleted", ["a", "b"])).toBe("replace");
  expect(historyStep("b", "", ["b"])).toBe("replace");
  expect(historyStep("b", "#/c/b", [])).toBeNull();
});
