/** Creates a long conversation by importing an exported file. */
import { createHash, randomUUID } from "node:crypto";
import type { World } from "./story";

const AT = "2026-01-01T00:00:00.000Z";

/** Imports and activates a conversation, and returns its id. Messages differ in length and start with their number. */
export async function longConversation(host: World["host"], count: number, title = "long"): Promise<string> {
  const ask = async (method: string, path: string, body?: string, type = "application/json") => {
    const headers = { ...host.headers, "content-type": type };
    const answer = await fetch(host.base + path, { method, headers, ...(body === undefined ? {} : { body }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.text();
  };
  const { context_id: model } = JSON.parse(await ask("POST", "/api/contexts", "{}")) as { context_id: string };
  const lines = (await ask("GET", `/api/contexts/${model}/export`)).split("\n").filter((line) => line !== "");
  const messages = Array.from({ length: count }, (_, number) => ({
    type: "text",
    message_id: randomUUID(),
    timestamp: AT,
    role: number % 2 === 0 ? "user" : "assistant",
    content: `${number} ${"words of the log ".repeat((number * 7919) % 60)}`,
  }));
  const kept = lines.slice(0, -1).map((line) => {
    const found = JSON.parse(line) as { type: string; core?: object };
    if (found.type === "core") return JSON.stringify({ ...found, core: { ...found.core, title } });
    return found.type === "branch"
      ? JSON.stringify({ ...found, ids: messages.map((message) => message.message_id) })
      : line;
  });
  const body = [...kept, ...messages.map((message) => JSON.stringify({ type: "message", message }))]
    .map((line) => `${line}\n`)
    .join("");
  const digest = createHash("sha256").update(body).digest("hex");
  const id = randomUUID();
  await ask(
    "POST",
    `/api/contexts/import?context_id=${id}`,
    `${body}${JSON.stringify({ type: "end", digest })}\n`,
    "application/x-ndjson",
  );
  await ask("PUT", "/api/session/active-context", JSON.stringify({ context_id: id }));
  return id;
}
