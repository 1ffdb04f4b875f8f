/** The open tabs, and the actions on them: select, close, reopen, move. */
import { useAppServices, useSelector } from "../../app/appServices";
import { useKeys, useShortcut } from "../../app/shortcuts";
import { moveItem } from "../../store/tabOrder";
import { type Tab, activeId, openTabs } from "../../store/selectors";

/** The ids of the tabs closed in this browser tab, the latest last. */
const closedTabIds: string[] = [];
const TAB_KEYS = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `Alt+${number}`);

export interface TabControls {
  readonly tabs: readonly Tab[];
  readonly active: string | null;
  goTo(id: string): void;
  close(id: string): void;
  move(id: string, to: number): void;
}

export function useTabs(): TabControls {
  const { act } = useAppServices();
  const tabs = useSelector(openTabs);
  const active = useSelector(activeId);
  const close = (id: string) => {
    closedTabIds.push(id);
    act({ kind: "close", id });
  };
  const reopen = () => {
    const isOpen = (id: string) => tabs.some((tab) => tab.id === id);
    let id = closedTabIds.pop();
    while (id !== undefined && isOpen(id)) id = closedTabIds.pop();
    if (id !== undefined) act({ kind: "activate", id });
  };
  const goTo = (id: string) => {
    if (id !== active) act({ kind: "activate", id });
  };
  useShortcut("tab.close", active === null ? null : () => close(active));
  useShortcut("tab.reopen", reopen);
  useKeys(TAB_KEYS, (index) => {
    const tab = tabs[index];
    if (tab !== undefined) goTo(tab.id);
  });
  return {
    tabs,
    active,
    goTo,
    close,
    move(id, to) {
      const ids = tabs.map((tab) => tab.id);
      act({ kind: "order", ids: moveItem(ids, ids.indexOf(id), to) });
    },
  };
}
