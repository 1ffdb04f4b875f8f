/** Listens for the keys that decide. It stands behind all parts of the page, and before the page's shortcuts. */
import { type RefObject, useEffect, useRef } from "react";
import type { CallShape } from "../../api/schema";
import { usePage } from "../../app/page";
import { isLetter } from "../../app/focusPolicy";
import { type Decision, decisionOf, readSingleKeys } from "./keys";
import { placeOf } from "./places";
import { isDangerous } from "./tools";
import type { Times } from "./useDockFocus";

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP/.test(navigator.platform);

interface Given {
  element: RefObject<HTMLElement | null>;
  times: RefObject<Times>;
  /** Those that can be decided now. */
  calls: readonly CallShape[];
  onDecision(decision: Decision, call: CallShape): void;
}

export function useDockKeys(given: Given): void {
  const { ambient } = usePage();
  const latest = useRef(given);
  latest.current = given;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { element, times, calls, onDecision } = latest.current;
      const call = currentOf(calls, event.target);
      if (call === null) return;
      const decision = decisionOf(event, {
        place: placeOf(event.target, element.current),
        isDangerous: isDangerous(call),
        hasLadder: (call.rule_offers ?? []).length > 0,
        hasSingleKeys: readSingleKeys(),
        sinceShown: ambient.now() - times.current.shown,
        sinceTyped: ambient.now() - times.current.typed,
        isMac: IS_MAC,
      });
      if (decision === null) {
        // The letter goes to the box: what looks like a decision among those that follow is none.
        if (isLetter(event)) times.current.typed = ambient.now();
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // Esc leaves the card, and does not stop the turn as well
      onDecision(decision, call);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [ambient]);
}

/** The call on whose card the key was pressed; else the first. */
export function currentOf(calls: readonly CallShape[], target: EventTarget | null): CallShape | null {
  const id = target instanceof Element ? target.closest<HTMLElement>("[data-call]")?.dataset.call : undefined;
  return calls.find((call) => call.id === id) ?? calls[0] ?? null;
}
