/** Puts a text into the box, without sending it. */
import { drafts } from "../chat/drafts";
import { focusBox } from "../chat/editing";

export function propose(id: string | null, text: string): void {
  drafts.write(id, { text });
  focusBox();
}
