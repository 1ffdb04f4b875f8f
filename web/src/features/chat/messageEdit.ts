/** The message being edited: one at a time. The edit survives when its row is unmounted. */
import { createAtom } from "../../app/atom";

export interface MessageEdit {
  readonly context: string;
  /** The id of the transcript row or of the queued message. */
  readonly id: string;
  readonly text: string;
}

export const messageEdit = createAtom<MessageEdit | null>(null);

/** The row that the transcript scrolls to. With a branch, the scrolling waits until that branch is shown. */
export const scrollTarget = createAtom<{
  readonly context: string;
  readonly id: string;
  readonly branch?: string;
} | null>(null);

export const COMPOSER_ID = "composer-box";

/** Moves the focus to the composer. */
export function focusComposer(): void {
  document.getElementById(COMPOSER_ID)?.focus();
}
