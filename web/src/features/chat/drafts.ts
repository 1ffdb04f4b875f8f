/** Unsent drafts by conversation, stored so that they survive a reload. */
import { useSyncExternalStore } from "react";
import { writeStorage, readStorage } from "../../app/theme";

/** A file that was uploaded already, or that lies in the workspace. */
export interface Attachment {
  readonly path: string;
  /** In bytes, of one that was uploaded for this draft. */
  readonly size: number | null;
  readonly kind: "image" | "file";
}

export interface Draft {
  readonly text: string;
  readonly files: readonly Attachment[];
}

/** Where drafts are kept. What cannot be kept is only forgotten earlier. */
export interface DraftStorage {
  read(key: string): string | null;
  /** Nothing is kept of an empty one. */
  write(key: string, value: string): void;
}

export interface Drafts {
  /** The same object until it changes. No id is the conversation that has not begun. */
  read(id: string | null): Draft;
  write(id: string | null, change: Partial<Draft>): void;
  /** Puts something behind what is there already. */
  append(id: string | null, more: Draft): void;
  /** The conversation that had not begun has an id now. */
  contextCreated(id: string): void;
  /** Another page has written under this key: what is kept there holds here, too. */
  storageChanged(key: string): void;
  subscribe(listener: () => void): () => void;
}

export const NO_DRAFT: Draft = { text: "", files: [] };

const keyOf = (id: string | null) => `pilothouse-draft-${id ?? "new"}`;

export function createDrafts(storage: DraftStorage): Drafts {
  const cache = new Map<string, Draft>();
  const listeners = new Set<() => void>();
  const notify = () => [...listeners].forEach((listener) => listener());
  const read = (id: string | null): Draft => {
    const key = keyOf(id);
    const draft = cache.get(key) ?? parseDraft(storage.read(key));
    cache.set(key, draft);
    return draft;
  };
  const write = (id: string | null, change: Partial<Draft>) => {
    const draft = { ...read(id), ...change };
    const isEmpty = draft.text === "" && draft.files.length === 0;
    cache.set(keyOf(id), draft);
    storage.write(keyOf(id), isEmpty ? "" : JSON.stringify(draft));
    notify();
  };
  const append = (id: string | null, more: Draft) => {
    const { text, files } = read(id);
    write(id, { text: [text, more.text].filter((each) => each !== "").join("\n\n"), files: [...files, ...more.files] });
  };
  return {
    read,
    write,
    append,
    contextCreated(id) {
      append(id, read(null));
      write(null, NO_DRAFT);
    },
    storageChanged(key) {
      if (cache.delete(key)) notify();
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
    const parsed = JSON.parse(stored ?? "null") as Partial<Draft> | null;
    if (typeof parsed?.text !== "string" || !Array.isArray(parsed.files)) return NO_DRAFT;
    return { text: parsed.text, files: parsed.files.filter(isAttachment) };
  } catch {
    return NO_DRAFT;
  }
}

function isAttachment(value: Partial<Attachment> | null): value is Attachment {
  return (
    typeof value?.path === "string" &&
    (value.size === null || typeof value.size === "number") &&
    (value.kind === "image" || value.kind === "file")
  );
}

export const drafts = createDrafts({
  read: readStorage,
  write(key, value) {
    if (value !== "") return writeStorage(key, value);
    try {
      localStorage.removeItem(key);
    } catch {
      // nothing was kept
    }
  },
});

if (typeof window !== "undefined")
  window.addEventListener("storage", ({ key }) => key !== null && drafts.storageChanged(key));

export function useDraft(id: string | null): Draft {
  return useSyncExternalStore(drafts.subscribe, () => drafts.read(id));
}
