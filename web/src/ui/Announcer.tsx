/** The live regions for screen readers. Polite announcements are spaced by two seconds; the latest one wins. */
import { useEffect, useState } from "react";

const MIN_INTERVAL_MS = 2_000;
let announceNow: (text: string, isUrgent: boolean) => void = () => {};

/** Announces a text to screen readers; an urgent text interrupts. */
export function announce(text: string, isUrgent = false): void {
  announceNow(text, isUrgent);
}

export function Announcer() {
  const [polite, setPolite] = useState("");
  const [urgent, setUrgent] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let next: string | null = null;
    const announcePolitely = (text: string) => {
      setPolite((old) => (old === text ? `${text}\u00a0` : text)); // a repeated text must change to be announced again
      timer = setTimeout(() => {
        timer = null;
        if (next !== null) announcePolitely(next);
        next = null;
      }, MIN_INTERVAL_MS);
    };
    announceNow = (text, isUrgent) => {
      if (isUrgent) setUrgent((old) => (old === text ? `${text}\u00a0` : text));
      else if (timer === null) announcePolitely(text);
      else next = text;
    };
    return () => {
      if (timer !== null) clearTimeout(timer);
      announceNow = () => {};
    };
  }, []);
  return (
    <div className="hidden-visually">
      <div role="status" aria-live="polite">
        {polite}
      </div>
      <div role="alert" aria-live="assertive">
        {urgent}
      </div>
    </div>
  );
}
