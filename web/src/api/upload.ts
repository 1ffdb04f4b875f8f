/** File uploads. `fetch` reports no upload progress, so uploads use XMLHttpRequest. */
import { type Server, urlOf, problemOf } from "./http";
import type { Upload } from "./schema";
import { ConnectionLost, ServerError } from "./types";

interface UploadOptions {
  signal: AbortSignal;
  /** Receives the number of bytes sent. */
  onProgress(sent: number): void;
}

/** Rejects with the same errors as `Api`. An aborted upload rejects with ConnectionLost. */
export type SendFile = (context: string, name: string, bytes: Blob, options: UploadOptions) => Promise<Upload>;

/** The server's limit, checked before the upload: the server rejects a larger file only after receiving it. */
export const MAX_UPLOAD_BYTES = 20 * 1024 * 1024;

const FILES_ROUTE = "/api/contexts/{context_id}/files";

export function createSendFile(server: Server): SendFile {
  return (context, name, bytes, { signal, onProgress }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const lost = () => reject(new ConnectionLost(`no answer to the upload of ${name}`));
      request.open(
        "POST",
        (server.base ?? "") + urlOf(FILES_ROUTE, { path: { context_id: context }, query: { name } }),
      );
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
