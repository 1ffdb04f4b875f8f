import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Circumstances,
  type Decision,
  type Focus,
  type Pressed,
  GRACE,
  decisionOf,
  mayTakeFocus,
} from "../src/features/approvals/keys";

const PLAIN: Pressed = {
  key: "",
  code: "",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  keyCode: 0,
  defaultPrevented: false,
};
const CALM: Circumstances = {
  place: "card",
  isDangerous: false,
  hasLadder: true,
  hasSingleKeys: true,
  sinceShown: 10_000,
  sinceTyped: 10_000,
  isMac: false,
};
const shift = { shiftKey: true };
const ctrl = { ctrlKey: true };
const meta = { metaKey: true };

const TABLE: readonly [what: string, event: Partial<Pressed>, at: Partial<Circumstances>, decision: Decision | null][] =
  [
    ["Enter approves", { key: "Enter" }, {}, "approve"],
    ["Enter approves with the focus on the page", { key: "Enter" }, { place: "body" }, "approve"],
    ["Enter does nothing on a dangerous call", { key: "Enter" }, { isDangerous: true }, null],
    ["Enter on a button is the button's", { key: "Enter" }, { place: "control" }, null],
    ["Esc rejects", { key: "Escape" }, {}, "reject"],
    ["Esc rejects a dangerous call, too", { key: "Escape" }, { isDangerous: true }, "reject"],
    ["Esc on a button rejects", { key: "Escape" }, { place: "control" }, "reject"],
    ["1 approves", { key: "1" }, {}, "approve"],
    ["1 does nothing on a dangerous call", { key: "1" }, { isDangerous: true }, null],
    ["1 begins a message where nothing has the focus", { key: "1" }, { place: "body" }, null],
    ["3 rejects nothing where nothing has the focus", { key: "3" }, { place: "body" }, null],
    ["2 asks for a rule", { key: "2" }, {}, "always"],
    ["2 does nothing where no rule is offered", { key: "2" }, { hasLadder: false }, null],
    ["3 rejects", { key: "3" }, {}, "reject"],
    ["4 asks for a reason", { key: "4" }, {}, "reason"],
    ["R asks for a reason", { key: "r" }, {}, "reason"],
    ["R asks for a reason with the lock on", { key: "R" }, {}, "reason"],
    ["other letters do nothing", { key: "y" }, {}, null],
    ["Shift+Enter approves all", { key: "Enter", ...shift }, {}, "approveAll"],
    ["Shift+Esc rejects all", { key: "Escape", ...shift }, {}, "rejectAll"],
    ["Ctrl+Enter in the card does nothing", { key: "Enter", ...ctrl }, {}, null],
    ["Alt+1 belongs to the tabs", { key: "1", altKey: true }, {}, null],
    ["Ctrl+Enter in the empty box approves", { key: "Enter", ...ctrl }, { place: "composer" }, "approve"],
    ["Cmd+Enter does so on a Mac", { key: "Enter", ...meta }, { place: "composer", isMac: true }, "approve"],
    ["Ctrl+Enter does not on a Mac", { key: "Enter", ...ctrl }, { place: "composer", isMac: true }, null],
    [
      "Ctrl+Enter leads to a dangerous call and approves nothing",
      { key: "Enter", ...ctrl },
      { place: "composer", isDangerous: true },
      "look",
    ],
    ["Ctrl+Backspace in the empty box rejects", { key: "Backspace", ...ctrl }, { place: "composer" }, "reject"],
    ["Enter in the empty box is the box's", { key: "Enter" }, { place: "composer" }, null],
    ["1 in the empty box is written", { key: "1" }, { place: "composer" }, null],
    ["Esc in the box is not ours", { key: "Escape" }, { place: "composer" }, null],
    ["single keys can be off", { key: "1" }, { hasSingleKeys: false }, null],
    ["Enter stays where single keys are off", { key: "Enter" }, { hasSingleKeys: false }, "approve"],
  ];

test.each(TABLE)("%s", (_, event, at, decision) => {
  expect(decisionOf({ ...PLAIN, ...event }, { ...CALM, ...at })).toBe(decision);
});

const anyKey = fc.record({
  key: fc.constantFrom("Enter", "Escape", "Backspace", "1", "2", "3", "4", "r", "R", "a", " "),
  code: fc.constant(""),
  ctrlKey: fc.boolean(),
  metaKey: fc.boolean(),
  altKey: fc.boolean(),
  shiftKey: fc.boolean(),
  repeat: fc.boolean(),
  isComposing: fc.boolean(),
  keyCode: fc.constantFrom(0, 13, 229),
  defaultPrevented: fc.boolean(),
});
const anywhere = fc.record({
  place: fc.constantFrom(
    "card" as const,
    "control" as const,
    "body" as const,
    "composer" as const,
    "elsewhere" as const,
  ),
  isDangerous: fc.boolean(),
  hasLadder: fc.boolean(),
  hasSingleKeys: fc.boolean(),
  sinceShown: fc.nat(2 * GRACE),
  sinceTyped: fc.nat(2 * GRACE),
  isMac: fc.boolean(),
});

test("nothing is decided by a key that repeats, composes, is taken, or comes too early", () => {
  fc.assert(
    fc.property(anyKey, anywhere, (event, at) => {
      const isLate = at.sinceShown >= GRACE && at.sinceTyped >= GRACE;
      const isFree =
        !event.repeat && !event.isComposing && event.keyCode !== 229 && !event.defaultPrevented && !event.altKey;
      if (!isLate || !isFree || at.place === "elsewhere") expect(decisionOf(event, at)).toBeNull();
    }),
  );
});

test("no key ever approves a dangerous call by itself", () => {
  fc.assert(
    fc.property(anyKey, anywhere, (event, at) => {
      expect(decisionOf(event, { ...at, isDangerous: true })).not.toBe("approve");
    }),
  );
});

test("the focus is never taken from who writes, chooses, or has just pressed a key", () => {
  const calm: Focus = { isInDock: false, isBehindDialog: false, on: "nothing", sinceKey: 5_000 };
  expect(mayTakeFocus(calm)).toBe(true);
  expect(mayTakeFocus({ ...calm, on: "box" })).toBe(true);
  expect(mayTakeFocus({ ...calm, on: "other" })).toBe(false);
  expect(mayTakeFocus({ ...calm, sinceKey: 999 })).toBe(false);
  expect(mayTakeFocus({ ...calm, isBehindDialog: true })).toBe(false);
  expect(mayTakeFocus({ ...calm, isInDock: true })).toBe(false);
});
