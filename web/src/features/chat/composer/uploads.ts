/** Files on their way to a conversation: one after the other, wherever the person looks meanwhile. */
import type { Api } from "../../../api/http";
import type { Problem } from "../../../api/schema";
import { type SendFile, UPLOAD_AT_MOST } from "../../../api/upload";
import { ServerError, problemOfError } from "../../../api/types";
import { makeCell, type Cell } from "../../../app/cell";
import { type Attached, type Drafts, drafts } from "../drafts";

export interface Uploading {
  readonly key: string;
  readonly context: string;
  readonly name: string;
  readonly bytes: Blob;
  readonly kind: Attached["kind"];
  /** An image that is small enough to be shown at once. */
  readonly preview: string | null;
  readonly sent: number;
  readonly problem: Problem | null;
}

export interface Uploads extends Cell<readonly Uploading[]> {
  start(sendFile: SendFile, key: string, context: string, file: NamedFile): void;
  again(sendFile: SendFile, key: string): void;
  /** Stops it, or takes away one that did not succeed. */
  remove(key: string): void;
}

export interface NamedFile {
  readonly name: string;
  readonly bytes: Blob;
  readonly preview: string | null;
}

const IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const IMAGE_AT_MOST = 5 * 1024 * 1024;
const PREVIEW_AT_MOST = 1_000_000;
/** The code stands for words that the page itself has. */
export const TOO_LARGE: Problem = { title: "", status: 413, code: "too_large_to_upload", detail: "" };

/** A larger image is a file like any other: the server would not look at it. */
export function kindOf(bytes: Blob): Attached["kind"] {
  return IMAGES.includes(bytes.type) && bytes.size <= IMAGE_AT_MOST ? "image" : "file";
}

export function makeUploads(kept: Drafts, whenDone: (path: string, preview: string | null) => void): Uploads {
  const cell = makeCell<readonly Uploading[]>([]);
  const stoppers = new Map<string, AbortController>();
  let last: Promise<void> = Promise.resolve();

  const change = (key: string, part: Partial<Uploading>) =>
    cell.set(cell.getSnapshot().map((each) => (each.key === key ? { ...each, ...part } : each)));
  const drop = (key: string) => cell.set(cell.getSnapshot().filter((each) => each.key !== key));

  async function carry(
    sendFile: SendFile,
    { key, context, name, bytes, kind, preview }: Uploading,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    try {
      const { path, size } = await sendFile(context, name, bytes, {
        signal,
        onProgress: (sent) => change(key, { sent }),
      });
      if (signal.aborted) return;
      whenDone(path, preview);
      kept.write(context, { files: [...kept.read(context).files, { path, size, kind }] });
      drop(key);
    } catch (error) {
      if (!signal.aborted) change(key, { problem: problemOfError(error), sent: 0 });
    }
  }

  function enqueue(sendFile: SendFile, uploading: Uploading): void {
    if (uploading.bytes.size > UPLOAD_AT_MOST) return change(uploading.key, { problem: TOO_LARGE });
    const stopper = new AbortController();
    stoppers.set(uploading.key, stopper);
    last = last.then(() => carry(sendFile, uploading, stopper.signal));
  }

  return {
    ...cell,
    start(sendFile, key, context, { name, bytes, preview }) {
      const uploading = { key, context, name, bytes, kind: kindOf(bytes), preview, sent: 0, problem: null };
      cell.set([...cell.getSnapshot(), uploading]);
      enqueue(sendFile, uploading);
    },
    again(sendFile, key) {
      const found = cell.getSnapshot().find((each) => each.key === key);
      change(key, { problem: null });
      if (found !== undefined) enqueue(sendFile, found);
    },
    remove(key) {
      stoppers.get(key)?.abort();
      stoppers.delete(key);
      drop(key);
    },
  };
}

const FOLDER = "uploads/";

/** The name of an upload by its path in messages; null for a file of the workspace. */
export function uploadName(path: string): string | null {
  const name = path.startsWith(FOLDER) ? path.slice(FOLDER.length) : "";
  return name === "" || name.includes("/") ? null : name;
}

/** Deletes an upload. Rejects like `Api`, but not where there is none of that name any more. */
export async function removeUpload(api: Api, context: string, path: string): Promise<void> {
  const name = uploadName(path);
  if (name === null) return;
  try {
    // Not tried again: meanwhile another upload may have got the name.
    await api("DELETE /api/contexts/{context_id}/files/{name}", { path: { context_id: context, name } });
  } catch (error) {
    if (!(error instanceof ServerError && error.problem.status === 404)) throw error;
  }
}

/** Pictures of what was attached here, by path. They are not kept: after a reload a sign stands for them. */
export const previews = new Map<string, string>();

export const uploads = makeUploads(drafts, (path, preview) => {
  if (preview !== null) previews.set(path, preview);
});

/** A small image as an address that holds it; the page's policy lets no other kind in. */
export async function named(file: File): Promise<NamedFile> {
  const isShown = IMAGES.includes(file.type) && file.size <= PREVIEW_AT_MOST;
  return { name: file.name === "" ? "file" : file.name, bytes: file, preview: isShown ? await dataUrlOf(file) : null };
}

function dataUrlOf(bytes: Blob): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(typeof reader.result === "string" ? reader.result : null));
    reader.addEventListener("error", () => resolve(null));
    reader.readAsDataURL(bytes);
  });
}
