/** Which dialog about the page as a whole is open. There is one at a time, and anything may open it. */
import { makeCell } from "../../app/cell";

export type PageDialog = "setup" | "preferences" | "rules" | "shortcuts";

export const openedDialog = makeCell<PageDialog | null>(null);

export function openDialog(dialog: PageDialog): void {
  openedDialog.set(dialog);
}

export function closeDialog(): void {
  openedDialog.set(null);
}
