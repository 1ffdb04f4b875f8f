/** Puts a text into the composer without sending it. */
import { drafts } from "../drafts";
import { focusComposer } from "../messageEdit";

export function fillComposer(id: string | null, text: string): void {
  drafts.write(id, { text });
  focusComposer();
}
