import { expect, test } from "vitest";
import { lastCodeBlock } from "../src/features/chat/useCopyShortcuts";

test("the last block of code is found, and none where there is none", () => {
  expect(lastCodeBlock("a\n```py\none\n```\nb\n```\ntwo\n```\nc")).toBe("two");
  expect(lastCodeBlock("`inline` only")).toBeUndefined();
});
