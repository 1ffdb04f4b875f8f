import { expect, test } from "vitest";
import { titleOf } from "../src/app/documentTitle";
import { sortByIds, moveItem } from "../src/store/tabOrder";

test("moving a tab keeps the order of the others", () => {
  expect(moveItem(["a", "b", "c", "d"], 0, 2)).toEqual(["b", "c", "a", "d"]);
  expect(moveItem(["a", "b", "c", "d"], 3, 1)).toEqual(["a", "d", "b", "c"]);
});

test("a tab is never moved beyond the ends, and a missing tab moves nothing", () => {
  expect(moveItem(["a", "b"], 0, 9)).toEqual(["b", "a"]);
  expect(moveItem(["a", "b"], 1, -3)).toEqual(["b", "a"]);
  expect(moveItem(["a", "b"], 7, 0)).toEqual(["a", "b"]);
});

test("tabs opened meanwhile follow those with a chosen order", () => {
  const idOf = (id: string) => id;
  expect(sortByIds(["a", "b", "new", "c"], ["c", "a", "b"], idOf)).toEqual(["c", "a", "b", "new"]);
  expect(sortByIds(["a", "b"], ["gone", "b", "a"], idOf)).toEqual(["b", "a"]);
  expect(sortByIds(["a", "b"], [], idOf)).toEqual(["a", "b"]);
});

test("the document title contains badge, conversation and product name", () => {
  expect(titleOf({})).toBe("Pilothouse");
  expect(titleOf({ conversation: "Tidy the notes" })).toBe("Tidy the notes – Pilothouse");
  expect(titleOf({ badge: "(1)", conversation: "Tidy the notes" })).toBe("(1) Tidy the notes – Pilothouse");
});
