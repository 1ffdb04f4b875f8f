/** Detects scroll gestures (wheel, touch, keys) before the list moves. */
import { isComposing } from "../../../app/shortcuts";

interface ScrollGestureHandlers {
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
  let touchY = 0;
  const reportGesture = (event: Event, distance: number) => {
    if (distance === 0 || scrollsInside(event.target, list, distance)) return;
    if (distance < 0) handlers.up();
    else handlers.down();
  };
  list.addEventListener(
    "wheel",
    (event) => event.ctrlKey || event.shiftKey || reportGesture(event, event.deltaY),
    options,
  );
  list.addEventListener("touchstart", ({ touches }) => (touchY = touches[0]?.clientY ?? 0), options);
  list.addEventListener(
    "touchmove",
    (event) => {
      const y = event.touches[0]?.clientY ?? touchY;
      if (y > touchY) reportGesture(event, touchY - y); // downward scrolling is detected by the scroll event
      touchY = y;
    },
    options,
  );
  list.addEventListener(
    "keydown",
    (event) => {
      if (event.defaultPrevented || isComposing(event) || isTextField(event.target)) return;
      if (UP_KEYS.includes(event.key) || (event.key === " " && event.shiftKey)) reportGesture(event, -1);
      if (DOWN_KEYS.includes(event.key)) reportGesture(event, 1);
      const jump = { Home: handlers.start, End: handlers.end }[event.key];
      if (jump === undefined || scrollsInside(event.target, list, event.key === "Home" ? -1 : 1)) return;
      event.preventDefault(); // a smooth scroll would continue while the list changes
      jump();
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

function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
