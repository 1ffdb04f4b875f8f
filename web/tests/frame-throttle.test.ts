import { expect, test } from "vitest";
import { throttleToFrames } from "../src/app/frameThrottle";
import { createStore } from "../src/store/store";
import { makeClock } from "./clock";

/** Frames that the test releases; each render takes the given time. */
function frames() {
  let now = 0;
  let cost = 0;
  let waiting: (() => void) | null = null;
  const pass = () => {
    now += 16;
    const work = waiting;
    waiting = null;
    work?.();
  };
  return {
    now: () => now,
    frame: (work: () => void) => ((waiting = work), () => (waiting = null)),
    pass,
    draw: () => (now += cost),
    take: (ms: number) => (cost = ms),
  };
}

function watched() {
  const store = createStore(makeClock());
  const screen = frames();
  const shown = throttleToFrames(store, screen);
  let drawn = 0;
  shown.subscribe(() => {
    drawn += 1;
    screen.draw();
  });
  return { store, screen, shown, drawn: () => drawn };
}

test("all changes within a frame are rendered once", () => {
  const { store, screen, shown, drawn } = watched();
  const before = shown.getSnapshot();
  for (let count = 0; count < 5; count++) store.dispatch({ type: "clock" });
  expect([drawn(), shown.getSnapshot()]).toEqual([0, before]);
  screen.pass();
  expect([drawn(), shown.getSnapshot()]).toEqual([1, store.getSnapshot()]);
  screen.pass();
  expect(drawn()).toBe(1);
});

test("user actions are rendered at once", () => {
  const { store, drawn } = watched();
  store.dispatch({ type: "clock" });
  store.dispatch({ type: "sent", key: "a", command: { kind: "activate", id: "b" } });
  expect(drawn()).toBe(1);
});

test("slow renders are spaced, and fast ones catch up again", () => {
  const { store, screen, drawn } = watched();
  const during = (count: number) => {
    const before = drawn();
    for (let frame = 0; frame < count; frame++) {
      store.dispatch({ type: "clock" });
      screen.pass();
    }
    return drawn() - before;
  };
  expect(during(10)).toBe(10);
  screen.take(9);
  during(10);
  expect(during(12)).toBeLessThanOrEqual(4);
  screen.take(0);
  during(10);
  expect(during(10)).toBe(10);
});
