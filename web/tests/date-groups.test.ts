import { expect, test } from "vitest";
import { groupByDay, dayOf } from "../src/features/conversations/dateGroups";
import { localeOf } from "../src/ui/timeFormat";

const NOW = new Date(2031, 2, 14, 9, 30);
const at = (...parts: [number, number, number, number]) => new Date(2031, ...parts).toISOString();

test("a day begins at local midnight", () => {
  expect(dayOf(at(2, 14, 0, 0), NOW)).toBe("today");
  expect(dayOf(at(2, 13, 23, 59), NOW)).toBe("yesterday");
  expect(dayOf(at(2, 13, 0, 0), NOW)).toBe("yesterday");
  expect(dayOf(at(2, 12, 23, 59), NOW)).toBe("earlier");
});

test("timestamps in the future belong to today", () => {
  expect(dayOf(at(2, 15, 1, 0), NOW)).toBe("today");
});

test("grouping keeps the order, and a missing timestamp counts as earlier", () => {
  const items = [at(2, 14, 8, 0), at(2, 14, 1, 0), at(2, 13, 8, 0), at(0, 1, 8, 0), ""].map((updated_at) => ({
    updated_at,
  }));
  expect(groupByDay(items, NOW).map(({ day, items: group }) => [day, group.length])).toEqual([
    ["today", 2],
    ["yesterday", 1],
    ["earlier", 2],
  ]);
  expect(groupByDay(items, NOW).flatMap((group) => group.items)).toEqual(items);
  expect(groupByDay([], NOW)).toEqual([]);
});

test("times use the interface language in the browser's regional variant", () => {
  expect(localeOf("en", ["zh-CN", "zh"])).toBe("en");
  expect(localeOf("en", ["zh-CN", "en-GB"])).toBe("en-GB");
  expect(localeOf("zh", ["en-US", "zh-TW"])).toBe("zh-TW");
});
