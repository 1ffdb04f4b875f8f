import { expect, test } from "vitest";
import { titleOf } from "../src/app/documentTitle";
import { sortByIds, moveItem } from "../src/store/tabOrder";

test("a tab that is moved stands at its new place, and the others keep their order", () => {
  expect(moveItem(["a", "b", "c", "d"], 0, 2)).toEqual(["b", "c", "a", "d"]);
  expect(moveItem(["a", "b", "c", "d"], 3, 1)).toEqual(["a", "d", "b", "c"]);
});

test("a tab is never moved beyond the ends, and what is not there moves nothing", () => {
  expect(moveItem(["a", "b"], 0, 9)).toEqual(["b", "a"]);
  expect(moveItem(["a", "b"], 1, -3)).toEqual(["b", "a"]);
  expect(moveItem(["a", "b"], 7, 0)).toEqual(["a", "b"]);
});

test("tabs that were opened meanwhile stay behind those whose order was chosen", () => {
  const idOf = (id: string) => id;
  expect(sortByIds(["a", "b", "new", "c"], ["c", "a", "b"], idOf)).toEqual(["c", "a", "b", "new"]);
  expect(sortByIds(["a", "b"], ["gone", "b", "a"], idOf)).toEqual(["b", "a"]);
  expect(sortByIds(["a", "b"], [], idOf)).toEqual(["a", "b"]);
});

test("the document is named after what waits, the conversation and the page", () => {
  expect(titleOf({})).toBe("Pilothouse");
  expect(titleOf({ conversation: "Tidy the notes" })).toBe("Tidy the notes – Pilothouse");
  expect(titleOf({ badge: "(1)", conversation: "Tidy the notes" })).toBe("(1) Tidy the notes – Pilothouse");
});
