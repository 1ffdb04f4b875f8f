import { expect, test } from "vitest";
import { lastCode } from "../src/features/chat/useCopyKeys";

test("the last block of code is found, and none where there is none", () => {
  expect(lastCode("a\n```py\none\n```\nb\n```\ntwo\n```\nc")).toBe("two");
  expect(lastCode("`inline` only")).toBeUndefined();
});
