import { expect, test } from "vitest";
import { ContentOffsets } from "../src/features/read-progress/contentOffsets";

const ROOT = { top: 100, bottom: 1_000 };
const BOXES = [
  { top: 700, bottom: 800 },
  { top: 200, bottom: 600 },
];

test("a row box has no height in the content around it", () => {
  const offsets = new ContentOffsets(ROOT, BOXES);
  expect(offsets.length).toBe(400);
  expect([150, 200, 400, 600, 650].map((y) => offsets.offsetAt(y))).toEqual([50, 100, 100, 100, 150]);
  expect([0, 2_000].map((y) => offsets.offsetAt(y))).toEqual([0, 400]);
});

test("a growing row box does not shift the content around it", () => {
  const grown = new ContentOffsets({ top: 100, bottom: 1_500 }, [
    { top: 200, bottom: 1_100 },
    { top: 1_200, bottom: 1_300 },
  ]);
  expect(grown.length).toBe(new ContentOffsets(ROOT, BOXES).length);
  expect(grown.offsetAt(1_150)).toBe(150);
});

test("an offset maps to the screen position below the boxes before it", () => {
  const offsets = new ContentOffsets(ROOT, BOXES);
  expect([0, 99, 100, 150, 350].map((at) => offsets.screenY(at))).toEqual([100, 199, 600, 650, 950]);
});
