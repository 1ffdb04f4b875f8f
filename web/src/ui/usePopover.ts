/** The state of a popover beside a button; focus, click or scrolling elsewhere closes it. */
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { type PopoverPlacement, placePopover } from "./popoverPlacement";

export function usePopover(placement: PopoverPlacement) {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isOpen && opener.current !== null && popover.current !== null)
      placePopover(opener.current, popover.current, placement);
  }, [isOpen, placement]);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) setOpen(false);
    };
    // Only scrolling that moves the button: an answer that is being followed scrolls all the time.
    const scrolled = ({ target }: Event) => {
      if (target instanceof Node && target.contains(opener.current)) setOpen(false);
    };
    const control = new AbortController();
    const options = { capture: true, signal: control.signal };
    for (const name of ["pointerdown", "focusin"]) document.addEventListener(name, leave, options);
    document.addEventListener("scroll", scrolled, options);
    return () => control.abort();
  }, [isOpen]);
  /** Closes the popover and moves the focus to its button. */
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return { isOpen, setOpen, close, frame, opener, popover };
}
