import { expect, test } from "vitest";
import { idIn, stepTo } from "../src/app/address";

test("an address names a conversation, a new one, or nothing", () => {
  expect(idIn("#/c/abc-1_2")).toBe("abc-1_2");
  expect(idIn("#/c/work~anna")).toBe("work~anna");
  expect(idIn("#/new")).toBeNull();
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
    expect(idIn(hash)).toBeUndefined();
});

test("going elsewhere is a step to go back from, but not from what is no longer open", () => {
  expect(stepTo("b", "#/c/a", ["a", "b"])).toBe("push");
  expect(stepTo(null, "#/c/a", ["a"])).toBe("push");
  expect(stepTo("b", "#/new", ["b"])).toBe("push");
  expect(stepTo("b", "#/c/deleted", ["a", "b"])).toBe("replace");
  expect(stepTo("b", "", ["b"])).toBe("replace");
  expect(stepTo("b", "#/c/b", [])).toBeNull();
});
