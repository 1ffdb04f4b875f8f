/** Something that is wider than its place can be scrolled by keys, too: it has the focus then, and a name. */
import { useEffect, useRef, useState, type RefObject } from "react";

interface Region {
  readonly role: "group";
  readonly tabIndex: 0;
  readonly "aria-label": string;
}

/** For the element that scrolls and has one child. Its attributes while there is something to scroll. */
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
