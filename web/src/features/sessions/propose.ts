/** Puts a text into the box, without sending it. */
import { drafts } from "../chat/drafts";
import { BOX_ID } from "../chat/editing";

export function propose(id: string | null, text: string): void {
  drafts.write(id, { text });
  document.getElementById(BOX_ID)?.focus();
}
