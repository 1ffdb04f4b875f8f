/** One voice for screen readers. It speaks at boundaries, at most one thing every two seconds; the latest wins. */
import { useEffect, useState } from "react";

const SPACING_MS = 2_000;
let speakNow: (text: string, isUrgent: boolean) => void = () => {};

/** Says something. What is urgent is said at once. */
export function announce(text: string, isUrgent = false): void {
  speakNow(text, isUrgent);
}

export function Announcer() {
  const [polite, setPolite] = useState("");
  const [urgent, setUrgent] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let next: string | null = null;
    const speak = (text: string) => {
      setPolite((old) => (old === text ? `${text}\u00a0` : text)); // the same words twice are news, too
      timer = setTimeout(() => {
        timer = null;
        if (next !== null) speak(next);
        next = null;
      }, SPACING_MS);
    };
    speakNow = (text, isUrgent) => {
      if (isUrgent) setUrgent((old) => (old === text ? `${text}\u00a0` : text));
      else if (timer === null) speak(text);
      else next = text;
    };
    return () => {
      if (timer !== null) clearTimeout(timer);
      speakNow = () => {};
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
