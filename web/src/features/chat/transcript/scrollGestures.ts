/** Detects scroll gestures (wheel, touch, keys) before the list moves. */
import { isComposing } from "../../../app/shortcuts";

export interface ScrollGestureHandlers {
  up(): void;
  down(): void;
  start(): void;
  end(): void;
  open(): void;
}

const UP_KEYS = ["ArrowUp", "PageUp"];
const DOWN_KEYS = ["ArrowDown", "PageDown"];

/** Adds the listeners. Returns a function that removes them. */
export function listenForScrollGestures(list: HTMLElement, handlers: ScrollGestureHandlers): () => void {
  const control = new AbortController();
  const options = { passive: true, signal: control.signal };
  let finger = 0;
  const go = (event: Event, distance: number) => {
    if (distance === 0 || scrollsInside(event.target, list, distance)) return;
    if (distance < 0) handlers.up();
    else handlers.down();
  };
  list.addEventListener("wheel", (event) => event.ctrlKey || event.shiftKey || go(event, event.deltaY), options);
  list.addEventListener("touchstart", ({ touches }) => (finger = touches[0]?.clientY ?? 0), options);
  list.addEventListener(
    "touchmove",
    (event) => {
      const y = event.touches[0]?.clientY ?? finger;
      if (y > finger) go(event, finger - y); // downward scrolling is detected by the scroll event
      finger = y;
    },
    options,
  );
  list.addEventListener(
    "keydown",
    (event) => {
      if (event.defaultPrevented || isComposing(event) || isWriting(event.target)) return;
      if (UP_KEYS.includes(event.key) || (event.key === " " && event.shiftKey)) go(event, -1);
      if (DOWN_KEYS.includes(event.key)) go(event, 1);
      const goes = { Home: handlers.start, End: handlers.end }[event.key];
      if (goes === undefined || scrollsInside(event.target, list, event.key === "Home" ? -1 : 1)) return;
      event.preventDefault(); // a smooth scroll would continue while the list changes
      goes();
    },
    { signal: control.signal },
  );
  // Opening a disclosure unpins the list: the opened content stays in place and grows downwards.
  const disclosure = "summary, [aria-expanded]:not([aria-haspopup])";
  list.addEventListener(
    "click",
    ({ target }) => target instanceof Element && target.closest(disclosure) && handlers.open(),
    options,
  );
  return () => control.abort();
}

/** Whether an element inside the list will scroll by the gesture. */
function scrollsInside(target: EventTarget | null, list: HTMLElement, distance: number): boolean {
  for (
    let element = target instanceof Element ? target : null;
    element !== null && element !== list;
    element = element.parentElement
  ) {
    const room = distance < 0 ? element.scrollTop : element.scrollHeight - element.clientHeight - element.scrollTop;
    if (room > 0.5 && ["auto", "scroll"].includes(getComputedStyle(element).overflowY)) return true;
  }
  return false;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
