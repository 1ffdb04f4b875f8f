/** The manners of the dock: it is announced once, takes the focus from nobody, and gives it back. */
import { type RefObject, useEffect, useRef } from "react";
import { useLanguage, usePage } from "../../app/page";
import { useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import { mayTakeFocus } from "./keys";
import { boxForMessages, focusNow, isTyping } from "./places";
import { essenceOf, risksOf, titleOf } from "./tools";
import type { DockState } from "./useDock";
import { WORDS } from "./words";

/** When what waits has last changed, when somebody typed in a field, and when any key was pressed that was no decision. */
export interface Times {
  shown: number;
  typed: number;
  pressed: number;
}

let goTo: (call: string | null) => void = () => {};

/** Puts the focus on the card of a call, or of the first that waits. A route to it is always safe. */
export function focusCard(call: string | null): void {
  goTo(call);
}

export function useDockFocus(dock: DockState, element: RefObject<HTMLElement | null>): RefObject<Times> {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { ambient } = usePage();
  const times = useRef<Times>({ shown: -Infinity, typed: -Infinity, pressed: -Infinity });
  const hadFocus = useRef(false);
  const seen = useRef(new Set<string>());
  const open = dock.waiting.filter(({ sent }) => sent === null).map(({ call }) => call);
  const ids = open.map((call) => `${call.id} ${call.digest}`).join(" ");

  goTo = (call) => {
    const cards = [...(element.current?.querySelectorAll<HTMLElement>("[data-call]") ?? [])];
    (cards.find((card) => card.dataset.call === call) ?? cards[0])?.focus();
  };
  useShortcut("approval.focus", open.length > 0 ? () => focusCard(null) : null);

  useEffect(() => {
    times.current.shown = ambient.now();
    const fresh = open.filter((call) => !seen.current.has(call.id));
    for (const call of fresh) seen.current.add(call.id);
    const [first] = fresh;
    if (first !== undefined) {
      const what = [titleOf(first, language), essenceOf(first, dock.workspace), ...risksOf(first, language)]
        .filter(Boolean)
        .join(" ");
      announce(fresh.length === 1 ? t("announced", { what }) : t("announcedMany", { n: fresh.length }), true);
    }
    const isLost = document.activeElement === null || document.activeElement === document.body;
    const isBack = hadFocus.current && isLost;
    if (
      open.length > 0 &&
      (isBack ||
        (first !== undefined && mayTakeFocus(focusNow(element.current, ambient.now() - times.current.pressed))))
    )
      focusCard(first?.id ?? null);
    else if (isBack && dock.waiting.length === 0 && !matchMedia("(pointer: coarse)").matches) boxForMessages()?.focus();
  }, [ids, dock.waiting.length]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      times.current.pressed = ambient.now();
      if (isTyping(event)) times.current.typed = ambient.now();
    };
    const onFocus = (event: FocusEvent) => {
      hadFocus.current = event.target instanceof Node && element.current?.contains(event.target) === true;
    };
    window.addEventListener("keydown", onKey, true);
    window.addEventListener("focusin", onFocus);
    return () => {
      window.removeEventListener("keydown", onKey, true);
      window.removeEventListener("focusin", onFocus);
    };
  }, [ambient, element]);
  return times;
}
