import { expect, test } from "vitest";
import { idIn } from "../src/app/address";

test("an address names a conversation, a new one, or nothing", () => {
  expect(idIn("#/c/abc-1_2")).toBe("abc-1_2");
  expect(idIn("#/new")).toBeNull();
  for (const hash of ["", "#", "#/c/", "#/c/a/b", "#/c/a b", `#/c/${"a".repeat(65)}`, "#javascript:1"])
    expect(idIn(hash)).toBeUndefined();
});
