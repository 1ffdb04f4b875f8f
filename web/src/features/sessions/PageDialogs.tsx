/** The dialogs about the page as a whole. */
import { useCell } from "../../app/cell";
import { useShortcut } from "../../app/shortcuts";
import { PreferencesDialog } from "./PreferencesDialog";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { closeDialog, openDialog, openedDialog } from "./opened";

export function PageDialogs() {
  const opened = useCell(openedDialog);
  useShortcut("help.open", () => openDialog("shortcuts"));
  if (opened === "preferences") return <PreferencesDialog onClose={closeDialog} />;
  if (opened === "shortcuts") return <ShortcutsDialog onClose={closeDialog} />;
  // The dialog of the rules comes here.
  return null;
}
