/** Focus handling of the dock: new calls are announced once, and only the user moves the focus there. */
import { type RefObject, useEffect, useRef } from "react";
import { useLanguage, useAppServices } from "../../app/appServices";
import { isFocusLost } from "../../app/focusPolicy";
import { keysOf, useShortcut } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { announce } from "../../ui/Announcer";
import { isTouch } from "../chat/composer/composerKeys";
import { composerTextarea, isField, isTyping } from "./focusPlace";
import { summaryOf, risksOf, titleOf } from "../tool-calls/callText";
import type { DockState } from "./useDock";

export interface DockTimes {
  /** When the pending calls last changed. */
  changedAt: number;
  /** When the user last typed. */
  typedAt: number;
}

let focusCallCard: (call: string | null) => void = () => {};

/** Focuses the card of a call, or the first card. Focusing decides nothing and is always safe. */
export function focusCard(call: string | null): void {
  focusCallCard(call);
}

export function useDockFocus(dock: DockState, element: RefObject<HTMLElement | null>): RefObject<DockTimes> {
  const t = useTexts("approvals");
  const language = useLanguage();
  const { environment } = useAppServices();
  const times = useRef<DockTimes>({ changedAt: -Infinity, typedAt: -Infinity });
  const focusedPart = useRef<"card" | "field" | null>(null);
  const announcedIds = useRef(new Set<string>());
  const undecided = dock.pendingCalls.filter(({ sent }) => sent === null).map(({ call }) => call);
  const ids = undecided.map((call) => `${call.id} ${call.digest}`).join(" ");

  focusCallCard = (call) => {
    const cards = [...(element.current?.querySelectorAll<HTMLElement>("[data-call]") ?? [])];
    (cards.find((card) => card.dataset.call === call) ?? cards[0])?.focus();
  };
  useShortcut("approval.focus", undecided.length > 0 ? () => focusCard(null) : null);

  useEffect(() => {
    times.current.changedAt = environment.now();
    const newCalls = undecided.filter((call) => !announcedIds.current.has(call.id));
    for (const call of newCalls) announcedIds.current.add(call.id);
    const [first] = newCalls;
    if (first !== undefined) {
      const summary = [titleOf(first, language), summaryOf(first, dock.workspace), ...risksOf(first, language)]
        .filter(Boolean)
        .join(" ");
      const keys = keysOf("approval.focus");
      const { length: n } = newCalls;
      announce(n === 1 ? t("announced", { what: summary, keys }) : t("announcedMany", { n, keys }), true);
    }
    // The card with the focus is gone: focus the next card or the composer. If the user was typing a reason, focus the
    // composer, because those keys are not meant for another call.
    const isLost = focusedPart.current !== null && isFocusLost();
    if (isLost && undecided.length > 0 && focusedPart.current === "card") focusCard(null);
    else if (isLost && (dock.pendingCalls.length === 0 || focusedPart.current === "field") && !isTouch())
      composerTextarea()?.focus();
  }, [ids, dock.pendingCalls.length]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) times.current.typedAt = environment.now();
    };
    const onFocus = (event: FocusEvent) => {
      const isHere = event.target instanceof Element && element.current?.contains(event.target) === true;
      focusedPart.current = !isHere ? null : isField(event.target) ? "field" : "card";
    };
    window.addEventListener("keydown", onKey, true);
    window.addEventListener("focusin", onFocus);
    return () => {
      window.removeEventListener("keydown", onKey, true);
      window.removeEventListener("focusin", onFocus);
    };
  }, [environment, element]);
  return times;
}
