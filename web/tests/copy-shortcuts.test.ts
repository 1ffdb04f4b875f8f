import { expect, test } from "vitest";
import { lastCodeBlock } from "../src/features/chat/useCopyShortcuts";

test("the last code block is found, if there is one", () => {
  expect(lastCodeBlock("a\n```py\none\n```\nb\n```\ntwo\n```\nc")).toBe("two");
  expect(lastCodeBlock("`inline` only")).toBeUndefined();
});
