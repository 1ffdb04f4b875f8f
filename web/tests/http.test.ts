import fc from "fast-check";
import { expect, test } from "vitest";
import { urlOf, createApi } from "../src/api/http";
import { ConnectionLost, ServerError } from "../src/api/types";
import { makeClock } from "./clock";

type Reply = Response | Error | "silence";

function serverThat(replies: Reply[]) {
  const requests: { address: string; method: string; headers: Record<string, string> }[] = [];
  const fetch = ((address: string, request: RequestInit) => {
    requests.push({ address, method: request.method ?? "", headers: request.headers as Record<string, string> });
    const reply = replies.shift() ?? new Error("nothing is left");
    if (reply instanceof Response) return Promise.resolve(reply);
    if (reply instanceof Error) return Promise.reject(reply);
    return new Promise((_, reject) => request.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  }) as typeof globalThis.fetch;
  return { fetch, requests };
}

const json = (value: unknown, status = 200) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
const problem = (status: number, code: string) => json({ title: "", status, code, detail: code }, status);
const SEND = "POST /api/contexts/{context_id}/messages";
const MESSAGE = { path: { context_id: "a" }, body: { payloads: [{ type: "text", content: "hello" }] } } as const;

test("a message is retried with its idempotency key until the server answers", async () => {
  const sent = { message_id: "m", turn_id: "t" };
  const server = serverThat([new Error("cut"), problem(503, "stopping"), new Error("cut"), json(sent, 202)]);
  const clock = makeClock();
  const answer = createApi(server, clock)(SEND, MESSAGE, { key: "k" });
  await clock.pass(60_000);
  expect(await answer).toEqual(sent);
  expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["k", "k", "k", "k"]);
});

test("a request that cannot be saved is rejected at once, and a stopping server is retried", async () => {
  for (const refusal of [problem(503, "store_refused"), problem(503, "store_read_only"), problem(507, "full")]) {
    const server = serverThat([refusal]);
    const refused = await createApi(server, makeClock())(SEND, MESSAGE, { key: "k", failsWhenUnsaved: true }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(ServerError);
    expect(server.requests.length).toBe(1);
  }
  const server = serverThat([problem(503, "server_stopping"), json({}, 202)]);
  const clock = makeClock();
  const answer = createApi(server, clock)(SEND, MESSAGE, { key: "k", failsWhenUnsaved: true });
  await clock.pass(60_000);
  await answer;
  expect(server.requests.length).toBe(2);
});

test("a request without a key is never retried", async () => {
  const server = serverThat([new Error("cut")]);
  await expect(createApi(server, makeClock())(SEND, MESSAGE)).rejects.toBeInstanceOf(ConnectionLost);
  expect(server.requests.length).toBe(1);
});

test("an error response is reported as its problem, also with a key", async () => {
  const server = serverThat([problem(409, "turn_active"), new Response("<h1>Bad gateway", { status: 500 })]);
  const api = createApi(server, makeClock());
  const refused = await api(SEND, MESSAGE, { key: "k" }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ServerError);
  expect((refused as ServerError).problem.code).toBe("turn_active");
  const error = await api(SEND, MESSAGE).catch((error: unknown) => error);
  expect((error as ServerError).problem).toMatchObject({ status: 500, code: "" });
});

test("a silent server times out", async () => {
  const clock = makeClock();
  const answer = createApi(serverThat(["silence"]), clock)("GET /api/session", {}).catch((error: unknown) => error);
  await clock.pass(31_000);
  expect(await answer).toBeInstanceOf(ConnectionLost);
});

test("requests of a lane keep their order, even if the first is retried", async () => {
  const server = serverThat([new Error("cut"), json({}), json({})]);
  const clock = makeClock();
  const api = createApi(server, clock);
  const setTo = (mode: string, lane: string) =>
    api(
      "PUT /api/contexts/{context_id}/mode",
      { path: { context_id: mode }, body: { mode } },
      { isRepeatable: true, lane },
    );
  const answers = [setTo("agent", "mode"), setTo("plan", "mode")];
  await clock.pass(60_000);
  await Promise.all(answers);
  expect(server.requests.map(({ address }) => address.split("/")[3])).toEqual(["agent", "agent", "plan"]);
});

test("a lane continues after an error, and lanes are independent", async () => {
  const server = serverThat(["silence", problem(409, "turn_active"), json({ version: 2 })]);
  const clock = makeClock();
  const api = createApi(server, clock);
  const silent = api("GET /api/session", {}, { lane: "one" }).catch((error: unknown) => error);
  const refused = api("GET /api/session", {}, { lane: "two" }).catch((error: unknown) => error);
  const answered = api("GET /api/session", {}, { lane: "two" });
  await clock.settle();
  expect(await refused).toBeInstanceOf(ServerError);
  expect(await answered).toEqual({ version: 2 });
  await clock.pass(31_000);
  expect(await silent).toBeInstanceOf(ConnectionLost);
});

test("an aborted request never resolves, even if the response has arrived", async () => {
  const controller = new AbortController();
  const result = json({ version: 1 });
  Object.defineProperty(result, "text", {
    value: () => (controller.abort(), Promise.resolve('{"version": 1}')),
  });
  const api = createApi(serverThat([result]), makeClock());
  const answer = api("GET /api/session", {}, { signal: controller.signal }).catch((error: unknown) => error);
  expect(await answer).toBeInstanceOf(ConnectionLost);
});

test("path and query parameters are escaped", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (part, value) => {
      fc.pre(part !== "." && part !== "..");
      const result = new URL(urlOf("/api/x/{name}/y", { path: { name: part }, query: { q: value } }), "http://here");
      expect(result.pathname.split("/").length).toBe(5);
      expect(result.searchParams.get("q")).toBe(value);
    }),
  );
});
