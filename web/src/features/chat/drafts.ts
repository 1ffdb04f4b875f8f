/** Unsent drafts by conversation, kept in local storage to survive a reload. */
import { useSyncExternalStore } from "react";
import { readStorage, writeStorage } from "../../app/storage";

/** An uploaded file, or a file of the workspace. */
export interface Attachment {
  readonly path: string;
  /** Bytes; null if the file was not uploaded for this draft. */
  readonly size: number | null;
  readonly kind: "image" | "file";
}

export interface Draft {
  readonly text: string;
  readonly files: readonly Attachment[];
}

/** The storage of drafts. A value that cannot be stored is lost on reload. */
export interface DraftStorage {
  read(key: string): string | null;
  /** An empty value removes the key. */
  write(key: string, value: string): void;
}

export interface Drafts {
  /** Returns the same object until the draft changes. The id of a new conversation is null. */
  read(id: string | null): Draft;
  write(id: string | null, change: Partial<Draft>): void;
  /** Appends text and files to a draft. */
  append(id: string | null, more: Draft): void;
  /** Moves the draft of the new conversation to its id. */
  contextCreated(id: string): void;
  /** Another tab has changed the storage: reloads the draft of this key. */
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

/** Parses a stored draft; an invalid value yields an empty draft. */
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
      // the storage is disabled
    }
  },
});

if (typeof window !== "undefined")
  window.addEventListener("storage", ({ key }) => key !== null && drafts.storageChanged(key));

export function useDraft(id: string | null): Draft {
  return useSyncExternalStore(drafts.subscribe, () => drafts.read(id));
}
