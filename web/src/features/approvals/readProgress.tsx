/** Whether a person has had a whole text on the screen: every box of it was scrolled to its end. */
import { type ReactNode, createContext, useContext, useEffect, useMemo, useRef } from "react";

interface ReadProgress {
  open(end: Element): void;
  reach(end: Element): void;
  close(end: Element): void;
}

const ReadProgressContext = createContext<ReadProgress | null>(null);

/** Tells once that all of the text inside, in each of its boxes, was on the screen. */
export function ReadTracker({ onRead, children }: { onRead(): void; children: ReactNode }) {
  const latest = useRef(onRead);
  latest.current = onRead;
  const progress = useMemo<ReadProgress>(() => {
    const unread = new Set<Element>();
    let isRead = false;
    const check = () => {
      if (isRead || unread.size > 0) return;
      isRead = true;
      latest.current();
    };
    return {
      open: (end) => unread.add(end),
      reach(end) {
        unread.delete(end);
        check();
      },
      close: (end) => unread.delete(end), // what is no longer shown needs no reading; only an end that is seen decides
    };
  }, []);
  return <ReadProgressContext value={progress}>{children}</ReadProgressContext>;
}

/** Whether what is shown here waits for a decision, so that all of it must be read. */
export function useMustBeRead(): boolean {
  return useContext(ReadProgressContext) !== null;
}

/** Stands behind the last line of a box. Seen means: in the window, and cut off by no box that scrolls. */
export function EndOfText() {
  const progress = useContext(ReadProgressContext);
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const end = element.current;
    if (end === null || progress === null) return;
    progress.open(end);
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      end.dataset.reached = "";
      progress.reach(end);
      observer.disconnect();
    });
    observer.observe(end);
    return () => {
      observer.disconnect();
      progress.close(end);
    };
  }, [progress]);
  return progress === null ? null : <span className="end-of-text" ref={element} aria-hidden="true" />;
}

/** The focus goes to the box that has an end nobody has seen, so that the keys scroll it. */
export function focusUnread(within: Element | null): void {
  const end = within?.querySelector(".end-of-text:not([data-reached])");
  end?.closest<HTMLElement>("[tabindex='0']")?.focus();
}
