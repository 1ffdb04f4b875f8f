/**
 * Binds presses of Enter and the space bar to the control that received the first press. A held or repeated key must
 * not activate the control that gets the focus when the first one disappears: the next card, a button behind a menu,
 * the composer.
 */
import { GRACE_MS } from "./focusPolicy";

/** The element that a key was pressed on. */
interface Pressable {
  readonly isConnected: boolean;
}

export interface KeyPress {
  readonly key: string;
  readonly repeat: boolean;
  /** Null if no element has the focus. */
  readonly target: Pressable | null;
  /** Whether the key activates the target. In a text field, a held key types or scrolls. */
  readonly isControl: boolean;
  /** The time of the press, in milliseconds. */
  readonly at: number;
}

const ACTIVATION_KEYS = new Set(["Enter", " "]);
const MODIFIER_KEYS = new Set(["Control", "Meta", "Shift", "Alt", "AltGraph", "CapsLock"]);

export class PressGuard {
  /** The control that owns the key presses since the last other input, and the time of the last press. */
  #owner: { key: string; target: Pressable | null; at: number } | null = null;
  readonly #dropped = new Set<string>();

  /** Ends the ownership: the user pressed another key or used the pointer, so the next press is deliberate. */
  release(): void {
    this.#owner = null;
  }

  /** Whether to ignore a keydown. */
  shouldDrop(press: KeyPress): boolean {
    if (MODIFIER_KEYS.has(press.key)) return false;
    if (!ACTIVATION_KEYS.has(press.key)) {
      this.release();
      return false;
    }
    const isDropped = this.#hasOtherOwner(press) || (press.repeat && press.isControl);
    if (isDropped) this.#dropped.add(press.key);
    else this.#dropped.delete(press.key);
    const target = isDropped && this.#owner !== null ? this.#owner.target : press.target;
    this.#owner = { key: press.key, target, at: press.at };
    return isDropped;
  }

  /** Whether to ignore a keyup because its keydown was ignored. */
  shouldDropRelease(key: string): boolean {
    return this.#dropped.delete(key);
  }

  #hasOtherOwner({ key, repeat, target, at }: KeyPress): boolean {
    const owner = this.#owner;
    if (owner === null || owner.key !== key || owner.target === target) return false;
    // The control is gone and nothing has the focus: the user did not choose the target of this press.
    const isLost = target === null && owner.target?.isConnected === false;
    return repeat || isLost || at - owner.at < GRACE_MS;
  }
}

const CONTROLS = "button, a, summary, select, input";

/** Installs the guard. It must be installed before every other listener. */
export function guardPresses(now: () => number): void {
  const guard = new PressGuard();
  const stop = (event: Event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("pointerdown", () => guard.release(), true);
  // Text can also be pasted or dictated. A line break that Enter itself inserted is no other input.
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
      if (guard.shouldDrop({ key: event.key, repeat: event.repeat, target, isControl, at: now() })) stop(event);
    },
    true,
  );
  window.addEventListener("keyup", (event) => guard.shouldDropRelease(event.key) && stop(event), true);
}
