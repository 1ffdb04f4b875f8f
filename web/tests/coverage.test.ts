import fc from "fast-check";
import { expect, test } from "vitest";
import { Coverage, linesInGaps, intersection } from "../src/features/read-progress/coverage";

const itself = (row: number) => row;

test("a jump to the end leaves a gap, and going back closes it", () => {
  const coverage = new Coverage();
  coverage.add({ from: 0, to: 20 });
  coverage.add({ from: 80, to: 100 });
  expect(coverage.gaps(100)).toEqual([{ from: 20, to: 80 }]);
  expect(linesInGaps(coverage.gaps(100), itself)).toBe(60);
  coverage.add({ from: 15, to: 50.5 });
  // A partly read line is unread.
  expect(linesInGaps(coverage.gaps(100), itself)).toBe(30);
  coverage.add({ from: 50.5, to: 81 });
  expect(coverage.gaps(100)).toEqual([]);
});

test("gaps are exactly the rows that were not on the screen, in any order of reading", () => {
  const stretch = fc.tuple(fc.nat(60), fc.nat(20)).map(([from, size]) => ({ from, to: from + size }));
  fc.assert(
    fc.property(fc.array(stretch), fc.integer({ min: 1, max: 70 }), (stretches, rows) => {
      const coverage = new Coverage();
      const unread = new Set(Array.from({ length: rows }, (_, row) => row));
      for (const each of stretches) {
        coverage.add(each);
        for (let row = each.from; row < each.to; row++) unread.delete(row);
      }
      const gaps = coverage.gaps(rows).flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
      expect(gaps).toEqual([...unread]);
      expect(linesInGaps(coverage.gaps(rows), itself)).toBe(unread.size);
    }),
  );
});

test("a line of several rows counts once, also with several gaps", () => {
  const lineOf = (row: number) => (row < 5 ? 1 : row - 3);
  expect(
    linesInGaps(
      [
        { from: 0.5, to: 2 },
        { from: 3, to: 4 },
      ],
      lineOf,
    ),
  ).toBe(1);
  expect(linesInGaps([{ from: 4.2, to: 7 }], lineOf)).toBe(3);
});

test("the intersection of two samples contains the rows visible in both", () => {
  expect(intersection({ from: 0, to: 20 }, { from: 10, to: 30 })).toEqual({ from: 10, to: 20 });
  expect(intersection({ from: 0, to: 20 }, { from: 500, to: 520 })).toBeNull();
  expect(intersection(null, { from: 0, to: 1 })).toBeNull();
});
