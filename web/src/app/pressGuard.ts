/**
 * Enter and the space bar belong to the control on which they were pressed first. Held down or pressed again, they must not
 * act on whatever has the focus after that control went away: the next card, a button behind a menu, the message box.
 */
import { GRACE_MS } from "./focusPolicy";

/** What a key was pressed on. */
export interface Pressable {
  readonly isConnected: boolean;
}

export interface KeyPress {
  readonly key: string;
  readonly repeat: boolean;
  /** Null where nothing has the focus. */
  readonly target: Pressable | null;
  /** Whether the key presses the target. Held down in a text, it writes or scrolls. */
  readonly isControl: boolean;
  /** Milliseconds since some instant. */
  readonly at: number;
}

const ACTIVATES = new Set(["Enter", " "]);
const MODIFIERS = new Set(["Control", "Meta", "Shift", "Alt", "AltGraph", "CapsLock"]);

export class PressGuard {
  /** The control to which the presses since the last other input belong, and when the last of them was. */
  #owner: { key: string; target: Pressable | null; at: number } | null = null;
  readonly #dropped = new Set<string>();

  /** The person used another key or the pointer: what they press next is meant for what they see. */
  release(): void {
    this.#owner = null;
  }

  /** Whether a key that goes down must do nothing. */
  drops(press: KeyPress): boolean {
    if (MODIFIERS.has(press.key)) return false;
    if (!ACTIVATES.has(press.key)) {
      this.release();
      return false;
    }
    const isDropped = this.#isForAnother(press) || (press.repeat && press.isControl);
    if (isDropped) this.#dropped.add(press.key);
    else this.#dropped.delete(press.key);
    const target = isDropped && this.#owner !== null ? this.#owner.target : press.target;
    this.#owner = { key: press.key, target, at: press.at };
    return isDropped;
  }

  /** Whether a key that goes up belongs to a press that was dropped. */
  dropsRelease(key: string): boolean {
    return this.#dropped.delete(key);
  }

  #isForAnother({ key, repeat, target, at }: KeyPress): boolean {
    const owner = this.#owner;
    if (owner === null || owner.key !== key || owner.target === target) return false;
    // Where the control went away and nothing has the focus, nobody chose what the key would decide there.
    const isLost = target === null && owner.target?.isConnected === false;
    return repeat || isLost || at - owner.at < GRACE_MS;
  }
}

const CONTROLS = "button, a, summary, select, input";

/** Stands before every other listener of the page. */
export function guardPresses(now: () => number): void {
  const guard = new PressGuard();
  const stop = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("pointerdown", () => guard.release(), true);
  // Text also comes without keys: pasted, dictated, chosen. A line that Enter itself has broken is none of these.
  window.addEventListener(
    "input",
    (event) => {
      if (!(event instanceof InputEvent && event.inputType === "insertLineBreak")) guard.release();
    },
    true,
  );
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.isComposing || event.keyCode === 229) return;
      const target = event.target instanceof Element && !event.target.matches("html, body") ? event.target : null;
      const isControl = target?.matches(CONTROLS) === true;
      if (guard.drops({ key: event.key, repeat: event.repeat, target, isControl, at: now() })) stop(event);
    },
    true,
  );
  window.addEventListener("keyup", (event) => guard.dropsRelease(event.key) && stop(event), true);
}
