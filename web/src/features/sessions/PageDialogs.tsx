/** The dialogs about the page as a whole. On the first visit without a model, the set-up comes by itself, once. */
import { useEffect } from "react";
import { useCell } from "../../app/cell";
import { isFocusFree } from "../../app/focusPolicy";
import { keep, kept } from "../../app/looks";
import { useActiveId, useAsked } from "../../app/page";
import { useShortcut } from "../../app/shortcuts";
import { RulesDialog } from "../approvals/RulesDialog";
import { PreferencesDialog } from "./PreferencesDialog";
import { SetupDialog } from "./SetupDialog";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { closeDialog, openDialog, openedDialog } from "./opened";

const SEEN = "pilothouse-setup-seen";

export function PageDialogs() {
  const opened = useCell(openedDialog);
  const active = useActiveId();
  useShortcut("help.open", () => openDialog("shortcuts"));
  useFirstVisit();
  if (opened === "setup") return <SetupDialog onClose={closeDialog} />;
  if (opened === "preferences") return <PreferencesDialog onClose={closeDialog} />;
  if (opened === "shortcuts") return <ShortcutsDialog onClose={closeDialog} />;
  if (opened === "rules") return <RulesDialog context={active} onClose={closeDialog} />;
  return null;
}

function useFirstVisit(): void {
  const setup = useAsked("GET /api/setup", kept(SEEN) === null ? {} : null).value;
  const isNeeded = setup?.is_demo === true && setup.can_change === true;
  useEffect(() => {
    if (!isNeeded || kept(SEEN) !== null) return;
    keep(SEEN, "yes");
    if (!isFocusFree()) return; // somebody is writing already: the menu of models leads there
    openDialog("setup");
  }, [isNeeded]);
}
