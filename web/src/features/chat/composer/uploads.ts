/** Files on their way to a conversation: one after the other, wherever the person looks meanwhile. */
import type { Api } from "../../../api/http";
import type { Problem } from "../../../api/schema";
import { type SendFile, MAX_UPLOAD_BYTES } from "../../../api/upload";
import { ServerError, problemOfError } from "../../../api/types";
import { createAtom, type Atom } from "../../../app/atom";
import { type Attachment, type Drafts, drafts } from "../drafts";

export interface Upload {
  readonly key: string;
  readonly context: string;
  readonly name: string;
  readonly bytes: Blob;
  readonly kind: Attachment["kind"];
  /** An image that is small enough to be shown at once. */
  readonly preview: string | null;
  readonly sent: number;
  readonly problem: Problem | null;
}

export interface Uploads extends Atom<readonly Upload[]> {
  start(sendFile: SendFile, key: string, context: string, file: NamedFile): void;
  retry(sendFile: SendFile, key: string): void;
  /** Stops it, or takes away one that did not succeed. */
  remove(key: string): void;
}

export interface NamedFile {
  readonly name: string;
  readonly bytes: Blob;
  readonly preview: string | null;
}

const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_PREVIEW_BYTES = 1_000_000;
/** The code stands for words that the page itself has. */
export const TOO_LARGE: Problem = { title: "", status: 413, code: "too_large_to_upload", detail: "" };

/** A larger image is a file like any other: the server would not look at it. */
export function kindOf(bytes: Blob): Attachment["kind"] {
  return IMAGE_TYPES.includes(bytes.type) && bytes.size <= MAX_IMAGE_BYTES ? "image" : "file";
}

export function createUploads(draftStore: Drafts, onDone: (path: string, preview: string | null) => void): Uploads {
  const atom = createAtom<readonly Upload[]>([]);
  const controllers = new Map<string, AbortController>();
  let queue: Promise<void> = Promise.resolve();

  const update = (key: string, changes: Partial<Upload>) =>
    atom.set(atom.getSnapshot().map((each) => (each.key === key ? { ...each, ...changes } : each)));
  const drop = (key: string) => atom.set(atom.getSnapshot().filter((each) => each.key !== key));

  async function sendUpload(
    sendFile: SendFile,
    { key, context, name, bytes, kind, preview }: Upload,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    try {
      const { path, size } = await sendFile(context, name, bytes, {
        signal,
        onProgress: (sent) => update(key, { sent }),
      });
      if (signal.aborted) return;
      onDone(path, preview);
      draftStore.write(context, { files: [...draftStore.read(context).files, { path, size, kind }] });
      drop(key);
    } catch (error) {
      if (!signal.aborted) update(key, { problem: problemOfError(error), sent: 0 });
    }
  }

  function enqueue(sendFile: SendFile, uploading: Upload): void {
    if (uploading.bytes.size > MAX_UPLOAD_BYTES) return update(uploading.key, { problem: TOO_LARGE });
    const controller = new AbortController();
    controllers.set(uploading.key, controller);
    queue = queue.then(() => sendUpload(sendFile, uploading, controller.signal));
  }

  return {
    ...atom,
    start(sendFile, key, context, { name, bytes, preview }) {
      const uploading = { key, context, name, bytes, kind: kindOf(bytes), preview, sent: 0, problem: null };
      atom.set([...atom.getSnapshot(), uploading]);
      enqueue(sendFile, uploading);
    },
    retry(sendFile, key) {
      const upload = atom.getSnapshot().find((each) => each.key === key);
      update(key, { problem: null });
      if (upload !== undefined) enqueue(sendFile, upload);
    },
    remove(key) {
      controllers.get(key)?.abort();
      controllers.delete(key);
      drop(key);
    },
  };
}

const UPLOADS_FOLDER = "uploads/";

/** The name of an upload by its path in messages; null for a file of the workspace. */
export function uploadName(path: string): string | null {
  const name = path.startsWith(UPLOADS_FOLDER) ? path.slice(UPLOADS_FOLDER.length) : "";
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

export const uploads = createUploads(drafts, (path, preview) => {
  if (preview !== null) previews.set(path, preview);
});

/** A small image as an address that holds it; the page's policy lets no other kind in. */
export async function readFile(file: File): Promise<NamedFile> {
  const isShown = IMAGE_TYPES.includes(file.type) && file.size <= MAX_PREVIEW_BYTES;
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
