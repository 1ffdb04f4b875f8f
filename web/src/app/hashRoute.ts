/** Keeps the URL hash in step with the selected conversation, so that reload, back and forward work. */
import { useEffect } from "react";
import { activeId } from "../store/state";
import { useAppServices, useSelector } from "./appServices";

const NEW_HASH = "#/new";
const CONTEXT_HASH = /^#\/c\/([A-Za-z0-9_-]{1,64}(?:~[A-Za-z0-9_-]{1,64})?)$/;

/** The conversation id in a hash: null for a new conversation, undefined for any other hash. */
export function contextIdIn(hash: string): string | null | undefined {
  return hash === NEW_HASH ? null : CONTEXT_HASH.exec(hash)?.[1];
}

const hashOf = (id: string | null) => (id === null ? NEW_HASH : `#/c/${id}`);

/** How to change the history for the selected context. Back never leads to a closed or deleted conversation. */
export function historyStep(id: string | null, hash: string, open: readonly string[]): "push" | "replace" | null {
  if (hash === hashOf(id)) return null;
  const current = contextIdIn(hash);
  return current === undefined || (current !== null && !open.includes(current)) ? "replace" : "push";
}

export function useHashRoute(): void {
  const { act, store } = useAppServices();
  const isKnown = useSelector((state) => state.selected !== null);
  const active = useSelector(activeId);
  useEffect(() => {
    const followHash = () => {
      const id = contextIdIn(location.hash);
      const { selected } = store.getSnapshot();
      if (id !== undefined && (selected === null || selected.id !== id)) act({ kind: "activate", id });
    };
    followHash();
    window.addEventListener("popstate", followHash);
    return () => window.removeEventListener("popstate", followHash);
  }, [act, store]);
  useEffect(() => {
    if (!isKnown) return;
    const open = (store.getSnapshot().session.value?.open_contexts ?? []).map((tab) => tab.context_id);
    const step = historyStep(active, location.hash, open);
    if (step === "replace") history.replaceState(null, "", hashOf(active));
    if (step === "push") history.pushState(null, "", hashOf(active));
  }, [isKnown, active, store]);
}
