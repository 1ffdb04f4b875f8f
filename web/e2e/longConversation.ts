/** Creates a long conversation by importing an exported file. */
import { createHash, randomUUID } from "node:crypto";
import type { World } from "./story";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/** Imports and activates a conversation, and returns its id. Messages differ in length and start with their number. */
export async function longConversation(host: World["host"], count: number, title = "long"): Promise<string> {
  const request = async (method: string, path: string, body?: string, type = "application/json") => {
    const headers = { ...host.headers, "content-type": type };
    const response = await fetch(host.base + path, { method, headers, ...(body === undefined ? {} : { body }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.text();
  };
  const { context_id: templateId } = JSON.parse(await request("POST", "/api/contexts", "{}")) as { context_id: string };
  const lines = (await request("GET", `/api/contexts/${templateId}/export`)).split("\n").filter((line) => line !== "");
  const messages = Array.from({ length: count }, (_, number) => ({
    type: "text",
    message_id: randomUUID(),
    timestamp: TIMESTAMP,
    role: number % 2 === 0 ? "user" : "assistant",
    content: `${number} ${"words of the log ".repeat((number * 7919) % 60)}`,
  }));
  const header = lines.slice(0, -1).map((line) => {
    const record = JSON.parse(line) as { type: string; core?: object };
    if (record.type === "core") return JSON.stringify({ ...record, core: { ...record.core, title } });
    return record.type === "branch"
      ? JSON.stringify({ ...record, ids: messages.map((message) => message.message_id) })
      : line;
  });
  const body = [...header, ...messages.map((message) => JSON.stringify({ type: "message", message }))]
    .map((line) => `${line}\n`)
    .join("");
  const digest = createHash("sha256").update(body).digest("hex");
  const id = randomUUID();
  await request(
    "POST",
    `/api/contexts/import?context_id=${id}`,
    `${body}${JSON.stringify({ type: "end", digest })}\n`,
    "application/x-ndjson",
  );
  await request("PUT", "/api/session/active-context", JSON.stringify({ context_id: id }));
  return id;
}
