/** Puts a text into the box, without sending it: written as the draft, and told to the box by an event. */
import { drafts } from "../chat/drafts";

export const PROPOSED = "pilothouse-proposed";

export function propose(id: string | null, text: string): void {
  drafts.write(id, text);
  window.dispatchEvent(new CustomEvent(PROPOSED, { detail: { id } }));
}
