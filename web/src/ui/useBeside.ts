/** Something that opens beside a button, above everything else; going elsewhere closes it. */
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { type Place, putBeside } from "./beside";

export function useBeside(place: Place) {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const opened = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isOpen && opener.current !== null && opened.current !== null) putBeside(opener.current, opened.current, place);
  }, [isOpen, place]);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) setOpen(false);
    };
    const events = ["pointerdown", "focusin", "scroll"] as const;
    for (const name of events) document.addEventListener(name, leave, true);
    return () => {
      for (const name of events) document.removeEventListener(name, leave, true);
    };
  }, [isOpen]);
  /** Closes it and goes back to the button. */
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return { isOpen, setOpen, close, frame, opener, opened };
}
