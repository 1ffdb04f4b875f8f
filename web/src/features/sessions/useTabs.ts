/** What a person does with tabs: go to one, close it, have it back, put it elsewhere. */
import { usePage, useSlice } from "../../app/page";
import { useKeys, useShortcut } from "../../app/shortcuts";
import { moved } from "../../store/order";
import { type TabShown, activeId, tabs } from "../../store/selectors";

/** Those that were closed in this page, the last one last. */
const closed: string[] = [];
const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `Alt+${number}`);

export interface TabsAtHand {
  readonly open: readonly TabShown[];
  readonly active: string | null;
  goTo(id: string): void;
  close(id: string): void;
  move(id: string, to: number): void;
}

export function useTabs(): TabsAtHand {
  const { act } = usePage();
  const open = useSlice(tabs);
  const active = useSlice(activeId);
  const close = (id: string) => {
    closed.push(id);
    act({ kind: "close", id });
  };
  const reopen = () => {
    const isOpen = (id: string) => open.some((tab) => tab.id === id);
    let id = closed.pop();
    while (id !== undefined && isOpen(id)) id = closed.pop();
    if (id !== undefined) act({ kind: "activate", id });
  };
  const goTo = (id: string) => {
    if (id !== active) act({ kind: "activate", id });
  };
  useShortcut("tab.close", active === null ? null : () => close(active));
  useShortcut("tab.reopen", reopen);
  useKeys(NUMBERS, (index) => {
    const tab = open[index];
    if (tab !== undefined) goTo(tab.id);
  });
  return {
    open,
    active,
    goTo,
    close,
    move(id, to) {
      const ids = open.map((tab) => tab.id);
      act({ kind: "order", ids: moved(ids, ids.indexOf(id), to) });
    },
  };
}
