import { expect, test } from "vitest";
import { GRACE_MS } from "../src/app/focusPolicy";
import { type KeyPress, PressGuard } from "../src/app/pressGuard";

const control = () => ({ isConnected: true });

function makeGuard() {
  const guard = new PressGuard();
  let at = 0;
  return {
    guard,
    wait: (milliseconds: number) => void (at += milliseconds),
    drops: (target: KeyPress["target"], more: Partial<KeyPress> = {}) =>
      guard.drops({ key: "Enter", repeat: false, isControl: true, ...more, target, at }),
  };
}

test("a held key presses a button once, and writes on in a field", () => {
  const { drops } = makeGuard();
  const [button, field] = [control(), control()];
  expect(drops(button)).toBe(false);
  expect(drops(button, { repeat: true })).toBe(true);
  expect(drops(button, { key: " " })).toBe(false);
  expect(drops(field, { key: "a" })).toBe(false);
  expect(drops(field, { isControl: false })).toBe(false);
  expect(drops(field, { isControl: false, repeat: true })).toBe(false);
});

test("a second press soon after the first does nothing on another control", () => {
  const { drops, wait } = makeGuard();
  const [first, next] = [control(), control()];
  expect(drops(first)).toBe(false);
  wait(GRACE_MS - 1);
  expect(drops(next)).toBe(true);
  wait(GRACE_MS - 1);
  expect(drops(next)).toBe(true); // the user keeps pressing without looking
  wait(GRACE_MS);
  expect(drops(next)).toBe(false);
});

test("a key that is held while the focus moves never acts there, however long", () => {
  const { drops, wait } = makeGuard();
  expect(drops(control())).toBe(false);
  wait(10 * GRACE_MS);
  expect(drops(control(), { repeat: true, isControl: false })).toBe(true);
});

test("after a control went away, its key decides nothing where nothing has the focus", () => {
  const { drops, wait, guard } = makeGuard();
  const button = { isConnected: true };
  expect(drops(button)).toBe(false);
  button.isConnected = false;
  wait(10 * GRACE_MS);
  expect(drops(null)).toBe(true);
  wait(10 * GRACE_MS);
  expect(drops(null)).toBe(true);
  guard.release(); // a click
  expect(drops(null)).toBe(false);
});

test("another key in between, or the same control, is what the person means", () => {
  const { drops } = makeGuard();
  const [first, next] = [control(), control()];
  expect(drops(first)).toBe(false);
  expect(drops(first)).toBe(false);
  expect(drops(first, { key: "Shift" })).toBe(false);
  expect(drops(next)).toBe(true);
  expect(drops(next, { key: "Tab" })).toBe(false);
  expect(drops(next)).toBe(false);
  expect(drops(first, { key: " " })).toBe(false);
});

test("the release of a dropped key is dropped with it, once", () => {
  const { drops, guard } = makeGuard();
  const [first, next] = [control(), control()];
  drops(first, { key: " " });
  expect(guard.dropsRelease(" ")).toBe(false);
  expect(drops(next, { key: " " })).toBe(true);
  expect(guard.dropsRelease(" ")).toBe(true);
  expect(guard.dropsRelease(" ")).toBe(false);
});
