import fc from "fast-check";
import { expect, test } from "vitest";
import {
  EMPTY_VALUE,
  answerOf,
  parseStoredValues,
  toggleOption,
  toggleOwnText,
  questionsOf,
  setOwnText,
} from "../src/features/questions/formValues";

const [one, many, free] = questionsOf({
  questions: [
    { question: "Tea or coffee?", options: ["tea", "coffee, black"] },
    { question: "Which?", options: ["a", "b", "c"], multiple: true },
    { question: "Why?" },
  ],
});

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("there is none");
  return value;
}

test("any arguments can be parsed as questions", () => {
  fc.assert(
    fc.property(fc.anything(), (argument) => {
      for (const { options } of questionsOf({ questions: [argument] }))
        for (const each of options) expect(typeof each).toBe("string");
      expect(questionsOf(argument)).toBeInstanceOf(Array);
    }),
  );
});

test("a single choice is one answer, or replaced by free text", () => {
  const picked = toggleOption(must(one), EMPTY_VALUE, 1);
  expect(answerOf(must(one), picked)).toBe("coffee, black");
  const own = setOwnText(must(one), picked, " water ");
  expect(answerOf(must(one), own)).toBe("water");
  expect(answerOf(must(one), toggleOption(must(one), own, 0))).toBe("tea");
});

test("multiple choices are in the order of the options, followed by free text", () => {
  const both = toggleOption(must(many), toggleOption(must(many), EMPTY_VALUE, 2), 0);
  expect(answerOf(must(many), both)).toBe("a\nc");
  expect(answerOf(must(many), setOwnText(must(many), both, "d"))).toBe("a\nc\nd");
  expect(answerOf(must(many), toggleOwnText(must(many), setOwnText(must(many), both, "d")))).toBe("a\nc");
  expect(answerOf(must(many), toggleOption(must(many), both, 2))).toBe("a");
});

test("an empty field is no answer", () => {
  for (const question of [one, many, free]) expect(answerOf(must(question), EMPTY_VALUE)).toBe("");
  expect(answerOf(must(free), setOwnText(must(free), EMPTY_VALUE, "because"))).toBe("because");
});

test("stored answers survive a reload, and invalid ones are ignored", () => {
  const filled = [toggleOption(must(one), EMPTY_VALUE, 1), setOwnText(must(many), EMPTY_VALUE, "d"), EMPTY_VALUE];
  expect(parseStoredValues(JSON.stringify(filled), 3)).toEqual(filled);
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.json()),
      fc.nat(5),
      (text, count) => void expect(parseStoredValues(text, count)).toHaveLength(count),
    ),
  );
});
