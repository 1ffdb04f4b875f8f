/** The message that is being said otherwise: there is one at a time, and it outlives the line that shows it. */
import { makeCell } from "../../app/cell";

export interface Editing {
  readonly context: string;
  /** Of the line in the transcript or of what waits in the queue. */
  readonly id: string;
  readonly text: string;
}

export const editing = makeCell<Editing | null>(null);

/** The line that the transcript is to show; with a branch, as soon as that is shown. */
export const toShow = makeCell<{ readonly context: string; readonly id: string; readonly branch?: string } | null>(
  null,
);

export const BOX_ID = "composer-box";

/** Back to the box in which one writes. */
export function focusBox(): void {
  document.getElementById(BOX_ID)?.focus();
}
