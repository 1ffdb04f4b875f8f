/** The open application dialog: at most one at a time. */
import { createAtom } from "./atom";

export type AppDialog = "setup" | "preferences" | "rules" | "shortcuts";

export const openDialogAtom = createAtom<AppDialog | null>(null);

export function openDialog(dialog: AppDialog): void {
  openDialogAtom.set(dialog);
}

export function closeDialog(): void {
  openDialogAtom.set(null);
}
