import { expect, test } from "vitest";
import { MAX_UPLOAD_BYTES, type SendFile } from "../src/api/upload";
import type { Api } from "../src/api/http";
import { ConnectionLost, ServerError } from "../src/api/types";
import { createDrafts } from "../src/features/chat/drafts";
import {
  TOO_LARGE,
  attachmentKindOf,
  createUploads,
  removeUpload,
  uploadName,
} from "../src/features/chat/composer/uploads";

/** A network on which each file arrives or fails when the test says so. */
function network() {
  const open: { name: string; arrive(): void; lose(): void; progress(sent: number): void }[] = [];
  const sendFile: SendFile = (_, name, bytes, { signal, onProgress }) =>
    new Promise((resolve, reject) => {
      const lose = () => reject(new ConnectionLost("lost"));
      signal.addEventListener("abort", lose);
      open.push({
        name,
        arrive: () => resolve({ path: `uploads/${name}`, size: bytes.size }),
        lose,
        progress: onProgress,
      });
    });
  return { open, sendFile };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));
const file = (name: string, type = "text/plain") => ({ name, bytes: new Blob(["hello"], { type }), preview: null });

function world() {
  const drafts = createDrafts({ read: () => null, write: () => {} });
  return { drafts, uploads: createUploads(drafts, () => {}), ...network() };
}

test("files are uploaded one by one into the draft of their conversation", async () => {
  const { uploads, drafts, open, sendFile } = world();
  uploads.start(sendFile, "1", "c", file("a.txt"));
  uploads.start(sendFile, "2", "c", file("b.png", "image/png"));
  await settled();
  expect(open.map(({ name }) => name)).toEqual(["a.txt"]);
  open[0]?.progress(3);
  expect(uploads.getSnapshot()[0]?.sent).toBe(3);
  open[0]?.arrive();
  await settled();
  open[1]?.arrive();
  await settled();
  expect(uploads.getSnapshot()).toEqual([]);
  expect(drafts.read("c").files).toEqual([
    { path: "uploads/a.txt", size: 5, kind: "file" },
    { path: "uploads/b.png", size: 5, kind: "image" },
  ]);
});

test("a failed upload stays with its reason until it is retried", async () => {
  const { uploads, drafts, open, sendFile } = world();
  uploads.start(sendFile, "1", "c", file("a.txt"));
  await settled();
  open[0]?.lose();
  await settled();
  expect(uploads.getSnapshot()[0]?.problem?.code).toBe("connection_lost");
  uploads.retry(sendFile, "1");
  await settled();
  open[1]?.arrive();
  await settled();
  expect(drafts.read("c").files).toHaveLength(1);
});

test("a cancelled upload is removed, and the next one starts", async () => {
  const { uploads, drafts, open, sendFile } = world();
  uploads.start(sendFile, "1", "c", file("a.txt"));
  uploads.start(sendFile, "2", "c", file("b.txt"));
  uploads.start(sendFile, "3", "c", file("c.txt"));
  uploads.remove("2");
  await settled();
  uploads.remove("1");
  await settled();
  expect(open.map(({ name }) => name)).toEqual(["a.txt", "c.txt"]);
  open[1]?.arrive();
  await settled();
  expect(drafts.read("c").files.map(({ path }) => path)).toEqual(["uploads/c.txt"]);
});

test("a file above the server's limit is not sent", async () => {
  const { uploads, open, sendFile } = world();
  uploads.start(sendFile, "1", "c", {
    name: "big",
    bytes: new Blob([new Uint8Array(MAX_UPLOAD_BYTES + 1)]),
    preview: null,
  });
  await settled();
  expect(open).toEqual([]);
  expect(uploads.getSnapshot()[0]?.problem).toBe(TOO_LARGE);
});

test("a large image is attached as a file", () => {
  expect(attachmentKindOf(new Blob(["x"], { type: "image/webp" }))).toBe("image");
  expect(attachmentKindOf(new Blob(["x"], { type: "image/svg+xml" }))).toBe("file");
  expect(attachmentKindOf(new Blob([new Uint8Array(5 * 1024 * 1024 + 1)], { type: "image/png" }))).toBe("file");
});

test("only a path directly in uploads/ names an upload", () => {
  expect(uploadName("uploads/图片 1.png")).toBe("图片 1.png");
  for (const path of ["uploads", "uploads/", "uploads/a/b.txt", "src/uploads/a.txt", "a.txt", ""])
    expect(uploadName(path)).toBeNull();
});

test("removing an upload deletes it on the server, and a missing one is no error", async () => {
  const requests: unknown[] = [];
  let status: number | null = null;
  const api = (async (route: string, input: object) => {
    requests.push([route, input]);
    if (status !== null) throw new ServerError({ title: "", status, code: "", detail: "" });
    return null;
  }) as unknown as Api;
  await removeUpload(api, "c", "uploads/a.txt");
  status = 404;
  await removeUpload(api, "c", "uploads/a.txt");
  const input = { path: { context_id: "c", name: "a.txt" } };
  expect(requests).toEqual(Array(2).fill(["DELETE /api/contexts/{context_id}/files/{name}", input]));
  await removeUpload(api, "c", "src/a.txt");
  expect(requests.length).toBe(2);
  status = 500;
  await expect(removeUpload(api, "c", "uploads/a.txt")).rejects.toThrow(ServerError);
});
