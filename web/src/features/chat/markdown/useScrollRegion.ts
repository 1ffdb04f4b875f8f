/** Makes a scrollable element focusable and named while it overflows, so that it can be scrolled with the keyboard. */
import { useEffect, useRef, useState, type RefObject } from "react";

interface Region {
  readonly role: "group";
  readonly tabIndex: 0;
  readonly "aria-label": string;
}

/** Returns a ref for the scrolling element, which must have one child, and its attributes while it overflows. */
export function useScrollRegion(name: string): [RefObject<HTMLDivElement | null>, Region | undefined] {
  const ref = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = ref.current;
    const inner = element?.firstElementChild;
    if (!element || !inner) return undefined;
    const observer = new ResizeObserver(() =>
      setScrolls(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight),
    );
    observer.observe(element);
    observer.observe(inner);
    return () => observer.disconnect();
  }, []);
  return [ref, scrolls ? { role: "group", tabIndex: 0, "aria-label": name } : undefined];
}
