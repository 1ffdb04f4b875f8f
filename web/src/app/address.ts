/** The page's address names what is looked at: a reload stays there, back and forward go through conversations. */
import { useEffect } from "react";
import { activeId } from "../store/state";
import { usePage, useSlice } from "./page";

const NEW = "#/new";
const CONTEXT = /^#\/c\/([A-Za-z0-9_-]{1,64})$/;

/** The conversation that an address names; null for a new one; undefined where it names nothing. */
export function idIn(hash: string): string | null | undefined {
  return hash === NEW ? null : CONTEXT.exec(hash)?.[1];
}

export function useAddress(): void {
  const { act, store } = usePage();
  const isKnown = useSlice((state) => state.chosen !== null);
  const active = useSlice(activeId);
  useEffect(() => {
    const go = () => {
      const id = idIn(location.hash);
      const { chosen } = store.getSnapshot();
      if (id !== undefined && (chosen === null || chosen.id !== id)) act({ kind: "activate", id });
    };
    go();
    window.addEventListener("popstate", go);
    return () => window.removeEventListener("popstate", go);
  }, [act, store]);
  useEffect(() => {
    const wanted = active === null ? NEW : `#/c/${active}`;
    if (!isKnown || location.hash === wanted) return;
    if (idIn(location.hash) === undefined) history.replaceState(null, "", wanted);
    else history.pushState(null, "", wanted);
  }, [isKnown, active]);
}
