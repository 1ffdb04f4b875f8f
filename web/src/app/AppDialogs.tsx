/** The application dialogs. On the first visit without a model, the set-up dialog opens by itself, once. */
import { useEffect } from "react";
import { useAtom } from "./atom";
import { isFocusFree } from "./focusPolicy";
import { readStorage, writeStorage } from "./storage";
import { useActiveId, useQuery } from "./appServices";
import { useShortcut } from "./shortcuts";
import { RulesDialog } from "../features/rules/RulesDialog";
import { PreferencesDialog } from "../features/settings/PreferencesDialog";
import { SetupDialog } from "../features/settings/SetupDialog";
import { ShortcutsDialog } from "../features/settings/ShortcutsDialog";
import { closeDialog, openDialog, openDialogAtom } from "./dialogState";

const SETUP_SEEN_KEY = "pilothouse-setup-seen";

export function AppDialogs() {
  const dialog = useAtom(openDialogAtom);
  const active = useActiveId();
  useShortcut("help.open", () => openDialog("shortcuts"));
  useSetupOnFirstVisit();
  if (dialog === "setup") return <SetupDialog onClose={closeDialog} />;
  if (dialog === "preferences") return <PreferencesDialog onClose={closeDialog} />;
  if (dialog === "shortcuts") return <ShortcutsDialog onClose={closeDialog} />;
  if (dialog === "rules") return <RulesDialog context={active} onClose={closeDialog} />;
  return null;
}

function useSetupOnFirstVisit(): void {
  const setup = useQuery("GET /api/setup", readStorage(SETUP_SEEN_KEY) === null ? {} : null).value;
  const isNeeded = setup?.is_demo === true && setup.can_change === true;
  useEffect(() => {
    if (!isNeeded || readStorage(SETUP_SEEN_KEY) !== null) return;
    writeStorage(SETUP_SEEN_KEY, "yes");
    if (!isFocusFree()) return; // the user is typing: the model menu also leads to the set-up
    openDialog("setup");
  }, [isNeeded]);
}
