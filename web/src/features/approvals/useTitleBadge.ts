/** While the page is out of sight and something waits, its title says so. */
import { useEffect } from "react";
import { useSlice } from "../../app/page";
import { waitingEverywhere } from "./waiting";

const BADGE = /^\(\d+\) ⏳ /;

export function titled(title: string, waiting: number, isHidden: boolean): string {
  const plain = title.replace(BADGE, "");
  return isHidden && waiting > 0 ? `(${waiting}) ⏳ ${plain}` : plain;
}

export function useTitleBadge(): void {
  const waiting = useSlice(waitingEverywhere);
  useEffect(() => {
    const apply = () => {
      const title = titled(document.title, waiting, document.hidden);
      if (title !== document.title) document.title = title;
    };
    apply();
    // Others name the conversation in the title at any time.
    const watched = new MutationObserver(apply);
    watched.observe(document.head, { subtree: true, childList: true, characterData: true });
    document.addEventListener("visibilitychange", apply);
    return () => {
      watched.disconnect();
      document.removeEventListener("visibilitychange", apply);
    };
  }, [waiting]);
}
