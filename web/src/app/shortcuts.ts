/** Every keyboard shortcut: its keys, and where they are disabled. */
import { useEffect, useRef } from "react";
import type { TextName } from "../i18n/catalogue";

/** `Mod` is Ctrl, or Cmd on a Mac. The parts of a shortcut are in the order Mod, Alt, Shift, key. */
export const SHORTCUTS = {
  "mode.next": "Mod+.",
  "sidebar.toggle": "Mod+B",
  "context.new": "Mod+Alt+N",
  "tab.close": "Mod+Alt+W",
  "tab.reopen": "Mod+Alt+Shift+T",
  "tab.go": "Alt+1…9",
  "tab.move": "Ctrl+Shift+←/→",
  "composer.focus": "Mod+Shift+L",
  "approval.focus": "Mod+J",
  "approval.enlarge": "Mod+Shift+.",
  "answer.copy": "Mod+Shift+C",
  "code.copy": "Mod+Shift+;",
  "help.open": "Mod+/",
} as const satisfies Record<TextName<"shortcuts">, string>;

export type Shortcut = keyof typeof SHORTCUTS;

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP/.test(navigator.platform);

export function keysOf(shortcut: Shortcut): string {
  return formatKeys(SHORTCUTS[shortcut]);
}

/** Formats keys for display. */
export function formatKeys(keys: string): string {
  return IS_MAC
    ? keys.replace("Mod", "⌘").replace("Alt", "⌥").replace("Shift", "⇧").replaceAll("+", "")
    : keys.replace("Mod", "Ctrl");
}

/** Formats the keys of a shortcut for `aria-keyshortcuts`. */
export function ariaKeysOf(shortcut: Shortcut): string {
  return ariaKeys(SHORTCUTS[shortcut]);
}

export function ariaKeys(keys: string): string {
  return keys.replace("Mod", IS_MAC ? "Meta" : "Control");
}

interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/**
 * Whether the event matches the keys with exactly these modifiers. Alt changes `event.key`, so `event.code` is compared
 * as well.
 */
function matches(event: KeyPress, keys: string, isMac = IS_MAC): boolean {
  const parts = keys.split("+");
  const key = parts.at(-1) ?? "";
  const mod = parts.includes("Mod");
  if (event.ctrlKey !== (mod && !isMac) || event.metaKey !== (mod && isMac)) return false;
  if (event.altKey !== parts.includes("Alt") || event.shiftKey !== parts.includes("Shift")) return false;
  if (/^[A-Z]$/.test(key)) return event.code === `Key${key}` || event.key.toUpperCase() === key;
  if (/^\d$/.test(key)) return event.code === `Digit${key}`;
  const codes: Record<string, string> = { ";": "Semicolon", ".": "Period", "/": "Slash" };
  return event.key === key || event.code === codes[key];
}

/** Whether an input method composes a character; the key belongs to the composition. */
export function isComposing(event: { isComposing: boolean; keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Calls `work` when the shortcut is pressed anywhere, unless a dialog is open. */
export function useShortcut(shortcut: Shortcut, work: (() => void) | null): void {
  useKeys([SHORTCUTS[shortcut]], work);
}

/** Like `useShortcut` for several keys. `work` receives the index of the pressed one. */
export function useKeys(keys: readonly string[], work: ((index: number) => void) | null): void {
  const latest = useRef({ keys, work });
  latest.current = { keys, work };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || isComposing(event)) return;
      const index = latest.current.keys.findIndex((each) => matches(event, each));
      if (latest.current.work === null || index < 0) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current.work(index);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
