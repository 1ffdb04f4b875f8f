import { expect, test } from "vitest";
import { compactCount, costText, percent, urgency } from "../src/features/window/tokenFormat";

test("token counts have at most four characters", () => {
  const formatted = [0, 950, 1_000, 1_234, 9_960, 123_600, 200_000, 999_400, 999_600, 1_048_576, 12_400_000].map(
    compactCount,
  );
  expect(formatted).toEqual(["0", "950", "1k", "1.2k", "10k", "124k", "200k", "999k", "1M", "1M", "12M"]);
});

test("a small share is never 0 %, an incomplete one never 100 %", () => {
  expect(percent(1, 200_000)).toBe(1);
  expect(percent(0, 200_000)).toBe(0);
  expect(percent(199_900, 200_000)).toBe(99);
  expect(percent(200_000, 200_000)).toBe(100);
  expect(percent(250_000, 200_000)).toBe(125);
  expect(percent(5, 0)).toBe(0);
});

test("a small cost keeps its significant digits", () => {
  expect([0, 0.00042, 0.31, 2.5].map(costText)).toEqual(["0", "0.00042", "0.31", "2.50"]);
});

test("the window is filling from 60 % and full from 95 %", () => {
  expect([0, 59, 60, 94, 95, 120].map(urgency)).toEqual(["calm", "calm", "filling", "filling", "full", "full"]);
});
