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
    // Only what moves the button away: an answer that scrolls by while it is written closes nothing.
    const move = (event: Event) => {
      if (event.target instanceof Node && event.target.contains(frame.current)) setOpen(false);
    };
    const listeners = { pointerdown: leave, focusin: leave, scroll: move };
    for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener, true);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) document.removeEventListener(name, listener, true);
    };
  }, [isOpen]);
  /** Closes it and goes back to the button. */
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return { isOpen, setOpen, close, frame, opener, opened };
}
