/** A file's bytes for a conversation. `fetch` cannot tell how far it is, so that this is the one older kind of request. */
import { type Server, addressOf, problemOf } from "./http";
import type { Upload } from "./schema";
import { Lost, ServerError } from "./types";

export interface UploadOptions {
  signal: AbortSignal;
  /** How many bytes have gone. */
  onProgress(sent: number): void;
}

/** Rejects like `Api`. What was stopped is Lost, too. */
export type SendFile = (context: string, name: string, bytes: Blob, options: UploadOptions) => Promise<Upload>;

/** What the server takes at once: it would refuse more only after it has come. */
export const UPLOAD_AT_MOST = 20 * 1024 * 1024;

const FILES = "/api/contexts/{context_id}/files";

export function makeSendFile(server: Server): SendFile {
  return (context, name, bytes, { signal, onProgress }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const lost = () => reject(new Lost(`no answer to the upload of ${name}`));
      request.open("POST", (server.base ?? "") + addressOf(FILES, { path: { context_id: context }, query: { name } }));
      for (const [header, value] of Object.entries(server.headers ?? {})) request.setRequestHeader(header, value);
      request.setRequestHeader("content-type", "application/octet-stream");
      request.upload.addEventListener("progress", (event) => onProgress(event.loaded));
      request.addEventListener("load", () => {
        if (request.status >= 400) reject(new ServerError(problemOf(request.status, request.responseText)));
        else resolve(JSON.parse(request.responseText) as Upload);
      });
      for (const end of ["error", "abort", "timeout"]) request.addEventListener(end, lost);
      signal.addEventListener("abort", () => request.abort());
      if (signal.aborted) return lost();
      request.send(bytes);
    });
}
