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
    // What scrolls elsewhere, as an answer that is followed does, leaves the button where it is.
    const scroll = (event: Event) => {
      if (event.target instanceof Node && event.target.contains(frame.current)) setOpen(false);
    };
    const control = new AbortController();
    const how = { capture: true, signal: control.signal };
    document.addEventListener("pointerdown", leave, how);
    document.addEventListener("focusin", leave, how);
    document.addEventListener("scroll", scroll, how);
    return () => control.abort();
  }, [isOpen]);
  /** Closes it and goes back to the button. */
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return { isOpen, setOpen, close, frame, opener, opened };
}
