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
    shouldDrop: (target: KeyPress["target"], more: Partial<KeyPress> = {}) =>
      guard.shouldDrop({ key: "Enter", repeat: false, isControl: true, ...more, target, at }),
  };
}

test("a held key presses a button once, and repeats in a text field", () => {
  const { shouldDrop } = makeGuard();
  const [button, field] = [control(), control()];
  expect(shouldDrop(button)).toBe(false);
  expect(shouldDrop(button, { repeat: true })).toBe(true);
  expect(shouldDrop(button, { key: " " })).toBe(false);
  expect(shouldDrop(field, { key: "a" })).toBe(false);
  expect(shouldDrop(field, { isControl: false })).toBe(false);
  expect(shouldDrop(field, { isControl: false, repeat: true })).toBe(false);
});

test("a second press within the grace period does nothing on another control", () => {
  const { shouldDrop, wait } = makeGuard();
  const [first, next] = [control(), control()];
  expect(shouldDrop(first)).toBe(false);
  wait(GRACE_MS - 1);
  expect(shouldDrop(next)).toBe(true);
  wait(GRACE_MS - 1);
  expect(shouldDrop(next)).toBe(true); // the user keeps pressing without looking
  wait(GRACE_MS);
  expect(shouldDrop(next)).toBe(false);
});

test("a held key never acts on a control that got the focus meanwhile", () => {
  const { shouldDrop, wait } = makeGuard();
  expect(shouldDrop(control())).toBe(false);
  wait(10 * GRACE_MS);
  expect(shouldDrop(control(), { repeat: true, isControl: false })).toBe(true);
});

test("after its control disappeared, a key does nothing without focus", () => {
  const { shouldDrop, wait, guard } = makeGuard();
  const button = { isConnected: true };
  expect(shouldDrop(button)).toBe(false);
  button.isConnected = false;
  wait(10 * GRACE_MS);
  expect(shouldDrop(null)).toBe(true);
  wait(10 * GRACE_MS);
  expect(shouldDrop(null)).toBe(true);
  guard.release(); // a click
  expect(shouldDrop(null)).toBe(false);
});

test("another key in between or the same control ends the guard", () => {
  const { shouldDrop } = makeGuard();
  const [first, next] = [control(), control()];
  expect(shouldDrop(first)).toBe(false);
  expect(shouldDrop(first)).toBe(false);
  expect(shouldDrop(first, { key: "Shift" })).toBe(false);
  expect(shouldDrop(next)).toBe(true);
  expect(shouldDrop(next, { key: "Tab" })).toBe(false);
  expect(shouldDrop(next)).toBe(false);
  expect(shouldDrop(first, { key: " " })).toBe(false);
});

test("the release of a dropped key is dropped with it, once", () => {
  const { shouldDrop, guard } = makeGuard();
  const [first, next] = [control(), control()];
  shouldDrop(first, { key: " " });
  expect(guard.shouldDropRelease(" ")).toBe(false);
  expect(shouldDrop(next, { key: " " })).toBe(true);
  expect(guard.shouldDropRelease(" ")).toBe(true);
  expect(guard.shouldDropRelease(" ")).toBe(false);
});
