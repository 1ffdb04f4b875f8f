/** How the focus gets to the dock, and from it: what waits is announced once, and the person goes there. */
import { type RefObject, useEffect, useRef } from "react";
import { useLanguage, usePage } from "../../app/page";
import { isFocusLost } from "../../app/focusPolicy";
import { keysOf, useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import { isTouch } from "../chat/composer/keys";
import { boxForMessages, isField, isTyping } from "./places";
import { essenceOf, risksOf, titleOf } from "./tools";
import type { DockState } from "./useDock";
import { WORDS } from "./words";

export interface Times {
  /** When what waits has last changed. */
  shown: number;
  /** When somebody last typed. */
  typed: number;
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
  const times = useRef<Times>({ shown: -Infinity, typed: -Infinity });
  const had = useRef<"card" | "field" | null>(null);
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
      const keys = keysOf("approval.focus");
      const { length: n } = fresh;
      announce(n === 1 ? t("announced", { what, keys }) : t("announcedMany", { n, keys }), true);
    }
    // The card with the focus is gone: the person goes on with the next one, or with the box. Who was writing about it
    // goes on in the box: those keys are not meant for another call.
    const isLost = had.current !== null && isFocusLost();
    if (isLost && open.length > 0 && had.current === "card") focusCard(null);
    else if (isLost && (dock.waiting.length === 0 || had.current === "field") && !isTouch()) boxForMessages()?.focus();
  }, [ids, dock.waiting.length]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) times.current.typed = ambient.now();
    };
    const onFocus = (event: FocusEvent) => {
      const isHere = event.target instanceof Element && element.current?.contains(event.target) === true;
      had.current = !isHere ? null : isField(event.target) ? "field" : "card";
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
