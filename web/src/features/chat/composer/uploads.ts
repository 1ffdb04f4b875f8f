/** The upload queue: one file at a time, independent of the selected conversation. */
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
  /** A data URL of a small image. */
  readonly preview: string | null;
  readonly sent: number;
  readonly problem: Problem | null;
}

interface Uploads extends Atom<readonly Upload[]> {
  start(sendFile: SendFile, key: string, context: string, file: NamedFile): void;
  retry(sendFile: SendFile, key: string): void;
  /** Aborts an upload, or removes a failed one. */
  remove(key: string): void;
}

interface NamedFile {
  readonly name: string;
  readonly bytes: Blob;
  readonly preview: string | null;
}

const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_PREVIEW_BYTES = 1_000_000;
/** A problem of the web client; the text belongs to its code. */
export const TOO_LARGE: Problem = { title: "", status: 413, code: "too_large_to_upload", detail: "" };

/** The server does not process larger images, so they are attached as files. */
export function attachmentKindOf(bytes: Blob): Attachment["kind"] {
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

  function enqueue(sendFile: SendFile, upload: Upload): void {
    if (upload.bytes.size > MAX_UPLOAD_BYTES) return update(upload.key, { problem: TOO_LARGE });
    const controller = new AbortController();
    controllers.set(upload.key, controller);
    queue = queue.then(() => sendUpload(sendFile, upload, controller.signal));
  }

  return {
    ...atom,
    start(sendFile, key, context, { name, bytes, preview }) {
      const upload = { key, context, name, bytes, kind: attachmentKindOf(bytes), preview, sent: 0, problem: null };
      atom.set([...atom.getSnapshot(), upload]);
      enqueue(sendFile, upload);
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

/** The name of an upload, from its path in messages; null for a file of the workspace. */
export function uploadName(path: string): string | null {
  const name = path.startsWith(UPLOADS_FOLDER) ? path.slice(UPLOADS_FOLDER.length) : "";
  return name === "" || name.includes("/") ? null : name;
}

/** Deletes an upload; an upload that does not exist counts as deleted. Rejects with the errors of `Api`. */
export async function removeUpload(api: Api, context: string, path: string): Promise<void> {
  const name = uploadName(path);
  if (name === null) return;
  try {
    // Not retried: another upload may have taken the name meanwhile.
    await api("DELETE /api/contexts/{context_id}/files/{name}", { path: { context_id: context, name } });
  } catch (error) {
    if (!(error instanceof ServerError && error.problem.status === 404)) throw error;
  }
}

/** Previews of uploaded images by path, until the page is reloaded. */
export const previews = new Map<string, string>();

export const uploads = createUploads(drafts, (path, preview) => {
  if (preview !== null) previews.set(path, preview);
});

/** Reads a file. A small image gets a data URL as preview; the content security policy allows no other image source. */
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
