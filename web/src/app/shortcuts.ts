/** Every shortcut of the page, in one place: its keys, its words, and where it does not work. */
import { useEffect, useRef } from "react";

/** `Mod` is Ctrl, and Cmd on a Mac. Parts are in the order Mod, Alt, Shift. */
export const SHORTCUTS = {
  "mode.next": { keys: "Mod+.", words: ["Next mode", "下一个模式"] },
  "sidebar.toggle": { keys: "Mod+B", words: ["Show or hide the conversations", "显示或隐藏对话列表"] },
  "context.new": { keys: "Mod+Alt+N", words: ["New conversation", "新对话"] },
  "tab.close": { keys: "Mod+Alt+W", words: ["Close the tab", "关闭标签页"] },
  "tab.reopen": { keys: "Mod+Alt+Shift+T", words: ["Open the last closed tab again", "重新打开刚关闭的标签页"] },
  "tab.go": { keys: "Alt+1…9", words: ["Go to a tab by its number", "按编号转到标签页"] },
  "tab.move": { keys: "Ctrl+Shift+←/→", words: ["Move the focused tab", "移动获得焦点的标签页"] },
  "composer.focus": { keys: "Mod+Shift+L", words: ["Go to the message box", "转到输入框"] },
  "approval.focus": { keys: "Mod+J", words: ["Go to the call or question that waits", "转到等待中的调用或问题"] },
  "approval.enlarge": {
    keys: "Mod+Shift+.",
    words: ["Enlarge the card that waits, or make it small", "放大或还原等待中的卡片"],
  },
  "answer.copy": { keys: "Mod+Shift+C", words: ["Copy the last answer", "复制最后的回答"] },
  "code.copy": { keys: "Mod+Shift+;", words: ["Copy the last code block", "复制最后的代码块"] },
  "help.open": { keys: "Mod+/", words: ["Show the shortcuts", "显示快捷键"] },
} as const satisfies Record<string, { keys: string; words: readonly [string, string] }>;

export type Shortcut = keyof typeof SHORTCUTS;

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP/.test(navigator.platform);

export function keysOf(shortcut: Shortcut): string {
  return keysShown(SHORTCUTS[shortcut].keys);
}

/** As a person reads them. */
export function keysShown(keys: string): string {
  return IS_MAC
    ? keys.replace("Mod", "⌘").replace("Alt", "⌥").replace("Shift", "⇧").replaceAll("+", "")
    : keys.replace("Mod", "Ctrl");
}

/** As `aria-keyshortcuts` wants it. */
export function ariaKeysOf(shortcut: Shortcut): string {
  return ariaKeys(SHORTCUTS[shortcut].keys);
}

export function ariaKeys(keys: string): string {
  return keys.replace("Mod", IS_MAC ? "Meta" : "Control");
}

interface Pressed {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** Whether these are the keys, with exactly these modifiers. Alt changes what a key writes, so its place counts. */
export function matches(event: Pressed, keys: string, isMac = IS_MAC): boolean {
  const parts = keys.split("+");
  const key = parts.at(-1) ?? "";
  const mod = parts.includes("Mod");
  if (event.ctrlKey !== (mod && !isMac) || event.metaKey !== (mod && isMac)) return false;
  if (event.altKey !== parts.includes("Alt") || event.shiftKey !== parts.includes("Shift")) return false;
  if (/^[A-Z]$/.test(key)) return event.code === `Key${key}` || event.key.toUpperCase() === key;
  if (/^\d$/.test(key)) return event.code === `Digit${key}`;
  const places: Record<string, string> = { ";": "Semicolon", ".": "Period", "/": "Slash" };
  return event.key === key || event.code === places[key];
}

/** While somebody composes a character, keys belong to that. */
export function isComposing(event: { isComposing: boolean; keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Does `work` when the keys are pressed anywhere in the page, but not behind an open dialog. */
export function useShortcut(shortcut: Shortcut, work: (() => void) | null): void {
  useKeys([SHORTCUTS[shortcut].keys], work);
}

/** The same for several keys: `work` is told which of them it was. */
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
