/** Listens for decision keys: after the handlers of the components, and before the global shortcuts. */
import { type RefObject, useEffect, useRef } from "react";
import type { CallView } from "../../api/schema";
import { useAppServices } from "../../app/appServices";
import { isLetter } from "../../app/focusPolicy";
import { type Decision, decisionForKey, readSingleKeys } from "./decisionKeys";
import { focusPlaceOf } from "./focusPlace";
import { isDangerous } from "../tool-calls/callText";
import type { DockTimes } from "./useDockFocus";

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP/.test(navigator.platform);

interface DockKeysOptions {
  element: RefObject<HTMLElement | null>;
  times: RefObject<DockTimes>;
  /** The calls that can be decided now. */
  calls: readonly CallView[];
  onDecision(decision: Decision, call: CallView): void;
}

export function useDockKeys(options: DockKeysOptions): void {
  const { environment } = useAppServices();
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { element, times, calls, onDecision } = latest.current;
      const call = callForKey(calls, event.target);
      if (call === null) return;
      const decision = decisionForKey(event, {
        place: focusPlaceOf(event.target, element.current),
        isDangerous: isDangerous(call),
        hasRuleOffers: (call.rule_offers ?? []).length > 0,
        hasSingleKeys: readSingleKeys(),
        msSinceChange: environment.now() - times.current.changedAt,
        msSinceTyping: environment.now() - times.current.typedAt,
        isMac: IS_MAC,
      });
      if (decision === null) {
        // The letter goes to the composer, so the letters that follow are no decisions either.
        if (isLetter(event)) times.current.typedAt = environment.now();
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // Esc leaves the card and must not stop the turn as well
      onDecision(decision, call);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [environment]);
}

/** The call on whose card the key was pressed, else the first call. */
function callForKey(calls: readonly CallView[], target: EventTarget | null): CallView | null {
  const id = target instanceof Element ? target.closest<HTMLElement>("[data-call]")?.dataset.call : undefined;
  return calls.find((call) => call.id === id) ?? calls[0] ?? null;
}
