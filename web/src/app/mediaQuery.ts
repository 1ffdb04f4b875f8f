/** Media queries as a hook. */
import { useSyncExternalStore } from "react";

export const NARROW = "(max-width: 640px)";

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}
