import { expect, test } from "vitest";
import type { Setup } from "../src/api/schema";
import { OPENAI, requestBody, isComplete, usesStoredKey, formFrom } from "../src/features/settings/setupForm";

const DEMO: Setup = { provider: "demo", model: "demo", is_demo: true, base_url: OPENAI };
const OWN: Setup = {
  provider: "openai",
  model: "small",
  is_demo: false,
  base_url: "http://127.0.0.1:9/v1",
  key_from: "stored",
  key_hint: "9876",
};

test("the set-up form starts with the current set-up, or empty for the demo", () => {
  expect(formFrom(DEMO)).toEqual({ provider: "openai", address: "", key: "", model: "" });
  expect(formFrom(OWN)).toEqual({ provider: "own", address: OWN.base_url, key: "", model: "small" });
});

test("an empty key is not sent, so that the stored key stays", () => {
  expect(requestBody(formFrom(OWN))).toEqual({ base_url: OWN.base_url, model: "small" });
  expect(requestBody({ ...formFrom(DEMO), key: " sk-1 ", model: "gpt " })).toEqual({
    base_url: OPENAI,
    key: "sk-1",
    model: "gpt",
  });
});

test("a stored key is used for its own address only", () => {
  expect(usesStoredKey(OWN, { ...formFrom(OWN), address: "http://127.0.0.1:9/v1/" })).toBe(true);
  expect(usesStoredKey(OWN, { ...formFrom(OWN), address: "http://127.0.0.1:10/v1" })).toBe(false);
  expect(usesStoredKey(OWN, { ...formFrom(OWN), provider: "openai" })).toBe(false);
  expect(usesStoredKey(DEMO, formFrom(DEMO))).toBe(false);
});

test("a set-up needs an address and a model", () => {
  expect(isComplete(formFrom(OWN))).toBe(true);
  expect(isComplete({ ...formFrom(OWN), model: " " })).toBe(false);
  expect(isComplete({ ...formFrom(OWN), address: "" })).toBe(false);
});
