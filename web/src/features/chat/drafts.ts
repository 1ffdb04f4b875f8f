/** What somebody has begun to write, for each conversation: it is there again after a reload. */
import { useSyncExternalStore } from "react";
import { keep, kept } from "../../app/looks";

/** A file that was uploaded already, or that lies in the workspace. */
export interface Attached {
  readonly path: string;
  /** In bytes, of one that was uploaded for this draft. */
  readonly size: number | null;
  readonly kind: "image" | "file";
}

export interface Draft {
  readonly text: string;
  readonly files: readonly Attached[];
}

/** Where drafts are kept. What cannot be kept is only forgotten earlier. */
export interface Shelf {
  read(key: string): string | null;
  /** Nothing is kept of an empty one. */
  write(key: string, value: string): void;
}

export interface Drafts {
  /** The same object until it changes. No id is the conversation that has not begun. */
  read(id: string | null): Draft;
  write(id: string | null, change: Partial<Draft>): void;
  /** Puts something behind what is there already. */
  add(id: string | null, more: Draft): void;
  /** The conversation that had not begun has an id now. */
  begun(id: string): void;
  /** Another page has written under this key: what is kept there holds here, too. */
  changed(key: string): void;
  subscribe(listener: () => void): () => void;
}

export const NO_DRAFT: Draft = { text: "", files: [] };

const keyOf = (id: string | null) => `pilothouse-draft-${id ?? "new"}`;

export function makeDrafts(shelf: Shelf): Drafts {
  const known = new Map<string, Draft>();
  const listeners = new Set<() => void>();
  const tell = () => [...listeners].forEach((listener) => listener());
  const read = (id: string | null): Draft => {
    const key = keyOf(id);
    const found = known.get(key) ?? parseDraft(shelf.read(key));
    known.set(key, found);
    return found;
  };
  const write = (id: string | null, change: Partial<Draft>) => {
    const draft = { ...read(id), ...change };
    const isEmpty = draft.text === "" && draft.files.length === 0;
    known.set(keyOf(id), draft);
    shelf.write(keyOf(id), isEmpty ? "" : JSON.stringify(draft));
    tell();
  };
  const add = (id: string | null, more: Draft) => {
    const { text, files } = read(id);
    write(id, { text: [text, more.text].filter((each) => each !== "").join("\n\n"), files: [...files, ...more.files] });
  };
  return {
    read,
    write,
    add,
    begun(id) {
      add(id, read(null));
      write(null, NO_DRAFT);
    },
    changed(key) {
      if (known.delete(key)) tell();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** What was kept; what cannot be read is no draft. */
export function parseDraft(stored: string | null): Draft {
  try {
    const found = JSON.parse(stored ?? "null") as Partial<Draft> | null;
    if (typeof found?.text !== "string" || !Array.isArray(found.files)) return NO_DRAFT;
    return { text: found.text, files: found.files.filter(isAttached) };
  } catch {
    return NO_DRAFT;
  }
}

function isAttached(found: Partial<Attached> | null): found is Attached {
  return (
    typeof found?.path === "string" &&
    (found.size === null || typeof found.size === "number") &&
    (found.kind === "image" || found.kind === "file")
  );
}

export const drafts = makeDrafts({
  read: kept,
  write(key, value) {
    if (value !== "") return keep(key, value);
    try {
      localStorage.removeItem(key);
    } catch {
      // nothing was kept
    }
  },
});

if (typeof window !== "undefined") window.addEventListener("storage", ({ key }) => key !== null && drafts.changed(key));

export function useDraft(id: string | null): Draft {
  return useSyncExternalStore(drafts.subscribe, () => drafts.read(id));
}
