import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type KeyContext,
  type Decision,
  type DecisionKeyEvent,
  decisionForKey,
} from "../src/features/approvals/decisionKeys";
import { GRACE_MS, isLetter } from "../src/app/focusPolicy";

const PLAIN: DecisionKeyEvent = {
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
const CALM: KeyContext = {
  place: "card",
  isDangerous: false,
  hasRuleOffers: true,
  hasSingleKeys: true,
  msSinceChange: 10_000,
  msSinceTyping: 10_000,
  isMac: false,
};
const shift = { shiftKey: true };
const ctrl = { ctrlKey: true };
const meta = { metaKey: true };

const TABLE: readonly [
  what: string,
  event: Partial<DecisionKeyEvent>,
  at: Partial<KeyContext>,
  decision: Decision | null,
][] = [
  ["Enter approves", { key: "Enter" }, {}, "approve"],
  ["Enter approves with the focus on the page", { key: "Enter" }, { place: "body" }, "approve"],
  ["Enter does nothing on a dangerous call", { key: "Enter" }, { isDangerous: true }, null],
  ["Enter on a button is the button's", { key: "Enter" }, { place: "control" }, null],
  ["Esc leaves the card", { key: "Escape" }, {}, "leaveCard"],
  ["Esc leaves a card that has only just appeared", { key: "Escape" }, { msSinceChange: 0 }, "leaveCard"],
  ["Esc on a button of the card leaves it, too", { key: "Escape" }, { place: "control" }, "leaveCard"],
  ["Esc with the focus on the page decides nothing", { key: "Escape" }, { place: "body" }, null],
  ["Ctrl+Backspace rejects", { key: "Backspace", ...ctrl }, {}, "reject"],
  ["Ctrl+Backspace rejects a dangerous call, too", { key: "Backspace", ...ctrl }, { isDangerous: true }, "reject"],
  ["Cmd+Backspace does so on a Mac", { key: "Backspace", ...meta }, { isMac: true }, "reject"],
  ["Backspace alone does nothing", { key: "Backspace" }, {}, null],
  ["1 approves", { key: "1" }, {}, "approve"],
  ["1 does nothing on a dangerous call", { key: "1" }, { isDangerous: true }, null],
  ["1 begins a message where nothing has the focus", { key: "1" }, { place: "body" }, null],
  ["3 rejects nothing where nothing has the focus", { key: "3" }, { place: "body" }, null],
  ["2 asks for a rule", { key: "2" }, {}, "always"],
  ["2 does nothing where no rule is offered", { key: "2" }, { hasRuleOffers: false }, null],
  ["3 rejects", { key: "3" }, {}, "reject"],
  ["4 asks for a reason", { key: "4" }, {}, "reason"],
  ["R asks for a reason", { key: "r" }, {}, "reason"],
  ["R asks for a reason with the lock on", { key: "R" }, {}, "reason"],
  ["other letters do nothing", { key: "y" }, {}, null],
  ["Shift+Enter approves all", { key: "Enter", ...shift }, {}, "approveAll"],
  ["Shift+Esc rejects nothing", { key: "Escape", ...shift }, {}, "leaveCard"],
  ["Ctrl+Shift+Backspace rejects all", { key: "Backspace", ...ctrl, ...shift }, {}, "rejectAll"],
  [
    "Ctrl+Shift+Backspace in the box is the box's",
    { key: "Backspace", ...ctrl, ...shift },
    { place: "composer" },
    null,
  ],
  ["Ctrl+Enter in the card does nothing", { key: "Enter", ...ctrl }, {}, null],
  ["Alt+1 belongs to the tabs", { key: "1", altKey: true }, {}, null],
  ["Ctrl+Enter in the empty box approves", { key: "Enter", ...ctrl }, { place: "composer" }, "approve"],
  ["Cmd+Enter does so on a Mac", { key: "Enter", ...meta }, { place: "composer", isMac: true }, "approve"],
  ["Ctrl+Enter does not on a Mac", { key: "Enter", ...ctrl }, { place: "composer", isMac: true }, null],
  [
    "Ctrl+Enter leads to a dangerous call and approves nothing",
    { key: "Enter", ...ctrl },
    { place: "composer", isDangerous: true },
    "focus",
  ],
  ["Ctrl+Backspace in the empty box rejects", { key: "Backspace", ...ctrl }, { place: "composer" }, "reject"],
  ["Enter in the empty box is the box's", { key: "Enter" }, { place: "composer" }, null],
  ["1 in the empty box is written", { key: "1" }, { place: "composer" }, null],
  ["Esc in the box is not ours", { key: "Escape" }, { place: "composer" }, null],
  ["single keys can be off", { key: "1" }, { hasSingleKeys: false }, null],
  ["Enter stays where single keys are off", { key: "Enter" }, { hasSingleKeys: false }, "approve"],
];

test.each(TABLE)("%s", (_, event, at, decision) => {
  expect(decisionForKey({ ...PLAIN, ...event }, { ...CALM, ...at })).toBe(decision);
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
  hasRuleOffers: fc.boolean(),
  hasSingleKeys: fc.boolean(),
  msSinceChange: fc.nat(2 * GRACE_MS),
  msSinceTyping: fc.nat(2 * GRACE_MS),
  isMac: fc.boolean(),
});

test("a repeated, composing, handled or early key decides nothing", () => {
  fc.assert(
    fc.property(anyKey, anywhere, (event, at) => {
      const isLate = at.msSinceChange >= GRACE_MS && at.msSinceTyping >= GRACE_MS;
      const isFree =
        !event.repeat && !event.isComposing && event.keyCode !== 229 && !event.defaultPrevented && !event.altKey;
      const decision = decisionForKey(event, at);
      if (!isFree || at.place === "elsewhere") expect(decision).toBeNull();
      if (!isLate) expect([null, "leaveCard"]).toContain(decision);
    }),
  );
});

test("no single key approves a dangerous call", () => {
  fc.assert(
    fc.property(anyKey, anywhere, (event, at) => {
      expect(decisionForKey(event, { ...at, isDangerous: true })).not.toBe("approve");
    }),
  );
});

test("Esc never decides anything", () => {
  fc.assert(
    fc.property(anyKey, anywhere, (event, at) => {
      expect([null, "leaveCard"]).toContain(decisionForKey({ ...event, key: "Escape" }, at));
    }),
  );
});

test("letters are distinguished from keys with a function", () => {
  for (const key of ["a", "1", "/", "你", "é", "😀"]) expect(isLetter({ ...PLAIN, key })).toBe(true);
  for (const key of [" ", "Enter", "Escape", "ArrowUp", "Tab", "F5"]) expect(isLetter({ ...PLAIN, key })).toBe(false);
  for (const held of [ctrl, meta, { altKey: true }, { isComposing: true }, { defaultPrevented: true }])
    expect(isLetter({ ...PLAIN, key: "a", ...held })).toBe(false);
});
