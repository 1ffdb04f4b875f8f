/** The state of a popover beside a button; focus, click or scrolling elsewhere closes it. */
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { type PopoverPlacement, placePopover } from "./popoverPlacement";

export function usePopover(placement: PopoverPlacement) {
  const [isOpen, setOpen] = useState(false);
  const container = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isOpen && trigger.current !== null && popover.current !== null)
      placePopover(trigger.current, popover.current, placement);
  }, [isOpen, placement]);
  useEffect(() => {
    if (!isOpen) return;
    const closeIfOutside = (event: Event) => {
      if (event.target instanceof Node && !container.current?.contains(event.target)) setOpen(false);
    };
    // Only scrolling that moves the button: an answer that is being followed scrolls all the time.
    const closeOnScroll = ({ target }: Event) => {
      if (target instanceof Node && target.contains(trigger.current)) setOpen(false);
    };
    const control = new AbortController();
    const options = { capture: true, signal: control.signal };
    for (const name of ["pointerdown", "focusin"]) document.addEventListener(name, closeIfOutside, options);
    document.addEventListener("scroll", closeOnScroll, options);
    return () => control.abort();
  }, [isOpen]);
  /** Closes the popover and moves the focus to its button. */
  const close = () => {
    setOpen(false);
    trigger.current?.focus();
  };
  return { isOpen, setOpen, close, container, trigger, popover };
}
