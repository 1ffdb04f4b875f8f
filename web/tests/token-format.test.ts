import { expect, test } from "vitest";
import { compactCount, costText, percent, urgency } from "../src/features/window/tokenFormat";

test("tokens are told in four signs at most", () => {
  const told = [0, 950, 1_000, 1_234, 9_960, 123_600, 200_000, 999_400, 999_600, 1_048_576, 12_400_000].map(
    compactCount,
  );
  expect(told).toEqual(["0", "950", "1k", "1.2k", "10k", "124k", "200k", "999k", "1M", "1M", "12M"]);
});

test("something is never shown as nothing, and what is not full never as full", () => {
  expect(percent(1, 200_000)).toBe(1);
  expect(percent(0, 200_000)).toBe(0);
  expect(percent(199_900, 200_000)).toBe(99);
  expect(percent(200_000, 200_000)).toBe(100);
  expect(percent(250_000, 200_000)).toBe(125);
  expect(percent(5, 0)).toBe(0);
});

test("a small cost keeps the digits that tell it from nothing", () => {
  expect([0, 0.00042, 0.31, 2.5].map(costText)).toEqual(["0", "0.00042", "0.31", "2.50"]);
});

test("a window is worth a look from 60 % on and urgent from 95 % on", () => {
  expect([0, 59, 60, 94, 95, 120].map(urgency)).toEqual(["calm", "calm", "filling", "filling", "full", "full"]);
});
