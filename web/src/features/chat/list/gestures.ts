/** What a person does to go up or down in a list: heard at once, before the list has moved by a pixel. */
import { isComposing } from "../../../app/shortcuts";

export interface Heard {
  up(): void;
  down(): void;
  start(): void;
  end(): void;
  open(): void;
}

const UP = ["ArrowUp", "PageUp"];
const DOWN = ["ArrowDown", "PageDown"];

/** Gives what stops the listening. */
export function gestures(list: HTMLElement, heard: Heard): () => void {
  const control = new AbortController();
  const options = { passive: true, signal: control.signal };
  let finger = 0;
  const go = (event: Event, distance: number) => {
    if (distance === 0 || belongsInside(event.target, list, distance)) return;
    if (distance < 0) heard.up();
    else heard.down();
  };
  list.addEventListener("wheel", (event) => event.ctrlKey || event.shiftKey || go(event, event.deltaY), options);
  list.addEventListener("touchstart", ({ touches }) => (finger = touches[0]?.clientY ?? 0), options);
  list.addEventListener(
    "touchmove",
    (event) => {
      const now = event.touches[0]?.clientY ?? finger;
      if (now > finger) go(event, finger - now); // going down is seen when the list has moved
      finger = now;
    },
    options,
  );
  list.addEventListener(
    "keydown",
    (event) => {
      if (event.defaultPrevented || isComposing(event) || isWriting(event.target)) return;
      if (UP.includes(event.key) || (event.key === " " && event.shiftKey)) go(event, -1);
      if (DOWN.includes(event.key)) go(event, 1);
      const goes = { Home: heard.start, End: heard.end }[event.key];
      if (goes === undefined || belongsInside(event.target, list, event.key === "Home" ? -1 : 1)) return;
      event.preventDefault(); // the browser would still be on its way when the list changes
      goes();
    },
    { signal: control.signal },
  );
  // Who opens something wants to read it: it stays where it is, and grows downwards.
  const opens = "summary, [aria-expanded]:not([aria-haspopup])";
  list.addEventListener(
    "click",
    ({ target }) => target instanceof Element && target.closest(opens) && heard.open(),
    options,
  );
  return () => control.abort();
}

/** Whether something inside the list scrolls by it. */
function belongsInside(target: EventTarget | null, list: HTMLElement, distance: number): boolean {
  for (let at = target instanceof Element ? target : null; at !== null && at !== list; at = at.parentElement) {
    const room = distance < 0 ? at.scrollTop : at.scrollHeight - at.clientHeight - at.scrollTop;
    if (room > 0.5 && ["auto", "scroll"].includes(getComputedStyle(at).overflowY)) return true;
  }
  return false;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
