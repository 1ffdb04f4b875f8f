/** The message that is being said otherwise: there is one at a time, and it outlives the line that shows it. */
import { useEffect } from "react";
import { makeCell, useCell } from "../../app/cell";

export interface Editing {
  readonly context: string;
  /** Of the line in the transcript or of what waits in the queue. */
  readonly id: string;
  readonly text: string;
}

export const editing = makeCell<Editing | null>(null);

/** The line that the transcript is to show. */
export const toShow = makeCell<{ readonly context: string; readonly id: string } | null>(null);

export const BOX_ID = "composer-box";

/** Back to the box in which one writes. */
export function focusBox(): void {
  document.getElementById(BOX_ID)?.focus();
}

/** Brings that line into view, once. */
export function useToShow(context: string, show: (row: string) => void): void {
  const wanted = useCell(toShow);
  useEffect(() => {
    if (wanted?.context !== context) return;
    show(wanted.id);
    toShow.set(null);
  }, [wanted, context]);
}
