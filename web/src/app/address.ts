/** The page's address names what is looked at: a reload stays there, back and forward go through conversations. */
import { useEffect } from "react";
import { activeId } from "../store/state";
import { usePage, useSlice } from "./page";

const NEW = "#/new";
const CONTEXT = /^#\/c\/([A-Za-z0-9_-]{1,64}(?:~[A-Za-z0-9_-]{1,64})?)$/;

/** The conversation that an address names; null for a new one; undefined where it names nothing. */
export function idIn(hash: string): string | null | undefined {
  return hash === NEW ? null : CONTEXT.exec(hash)?.[1];
}

const addressOf = (id: string | null) => (id === null ? NEW : `#/c/${id}`);

/** How the address goes on to what is looked at now. Back never leads to what was closed or deleted meanwhile. */
export function stepTo(id: string | null, hash: string, open: readonly string[]): "push" | "replace" | null {
  if (hash === addressOf(id)) return null;
  const named = idIn(hash);
  return named === undefined || (named !== null && !open.includes(named)) ? "replace" : "push";
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
    if (!isKnown) return;
    const open = (store.getSnapshot().session.value?.open_contexts ?? []).map((tab) => tab.context_id);
    const step = stepTo(active, location.hash, open);
    if (step === "replace") history.replaceState(null, "", addressOf(active));
    if (step === "push") history.pushState(null, "", addressOf(active));
  }, [isKnown, active, store]);
}
