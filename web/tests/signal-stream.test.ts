import { expect, test } from "vitest";
import { createStream } from "../src/api/signalStream";
import { makeClock } from "./clock";

/** Connections that the test opens, feeds and cuts. */
function connections() {
  const opened: { address: string; say(text: string): void; cut(): void }[] = [];
  let status = 200;
  const fetch = ((address: string, request: RequestInit) => {
    if (status === 0) return Promise.reject(new Error("nobody listens"));
    if (status !== 200) return Promise.resolve(new Response('{"code": "unauthorized", "status": 401}', { status }));
    let source: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
    request.signal?.addEventListener("abort", () => source.error(new Error("aborted")));
    const say = (text: string) => source.enqueue(new TextEncoder().encode(text));
    opened.push({ address, say, cut: () => source.error(new Error("cut")) });
    return Promise.resolve(new Response(body));
  }) as typeof globalThis.fetch;
  return { fetch, opened, answerWith: (code: number) => (status = code) };
}

function listen() {
  const server = connections();
  const clock = makeClock();
  const received: string[] = [];
  const stream = createStream(
    server,
    clock,
  )({
    signal: (signal) => received.push(signal.event),
    up: () => received.push("up"),
    down: () => received.push("down"),
    rejected: (problem) => received.push(problem.code),
  });
  const until = async (count: number) => {
    for (let turn = 0; received.length < count && turn < 200; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    return received.splice(0);
  };
  const opened = async (count: number) => {
    for (let turn = 0; server.opened.length < count && turn < 200; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.pass(100);
    }
    return server.opened[count - 1]!;
  };
  return { server, clock, stream, until, opened };
}

const SIGNAL = 'event: SessionChanged\ndata: {"user_id": "local", "version": 1}\n\n';

test("a broken connection is reopened, and both events are reported", async () => {
  const { stream, until, opened } = listen();
  stream.follow(["a", "b"]);
  const first = await opened(1);
  expect(first.address).toBe("/api/stream?contexts=a%2Cb");
  first.say(SIGNAL);
  expect(await until(2)).toEqual(["up", "SessionChanged"]);
  first.cut();
  expect(await until(1)).toEqual(["down"]);
  (await opened(2)).say(": \n\n");
  expect(await until(1)).toEqual(["up"]);
});

test("another set of contexts reopens the stream without a down event", async () => {
  const { server, stream, until, opened } = listen();
  stream.follow(["a"]);
  (await opened(1)).say(SIGNAL);
  await until(2);
  stream.follow(["a"]);
  stream.follow(["a", "b"]);
  const second = await opened(2);
  expect(second.address).toContain("a%2Cb");
  second.say(SIGNAL);
  expect(await until(2)).toEqual(["up", "SessionChanged"]);
  expect(server.opened.length).toBe(2);
});

test("a connection without heartbeats is lost", async () => {
  const { clock, stream, until, opened } = listen();
  stream.follow([]);
  (await opened(1)).say(": \n\n");
  expect(await until(1)).toEqual(["up"]);
  await clock.pass(41_000);
  expect((await until(1))[0]).toBe("down");
  await opened(2);
});

test("reconnects back off exponentially", async () => {
  const { server, clock, stream, until } = listen();
  server.answerWith(0);
  stream.follow([]);
  for (let second = 0; second < 60; second++) await clock.pass(1_000);
  const tries = (await until(0)).length;
  expect(tries).toBeGreaterThan(8);
  expect(tries).toBeLessThan(40);
});

test("waking reconnects at once, and leaves a live connection alone", async () => {
  const { server, clock, stream, until, opened } = listen();
  server.answerWith(0);
  stream.follow([]);
  for (let second = 0; second < 30; second++) await clock.pass(1_000);
  server.answerWith(200);
  stream.wake();
  await clock.settle();
  expect(server.opened.length).toBe(1);
  await until(0);
  (await opened(1)).say(": \n\n");
  expect(await until(1)).toEqual(["up"]);
  await clock.pass(10_000);
  stream.wake();
  await clock.settle();
  expect(server.opened.length).toBe(1);
  await clock.pass(10_000);
  stream.wake(); // the heartbeat is overdue
  await opened(2);
});

test("a rejected stream is reported and not retried", async () => {
  const { server, clock, stream, until } = listen();
  server.answerWith(401);
  stream.follow([]);
  expect(await until(1)).toEqual(["unauthorized"]);
  server.answerWith(200);
  await clock.pass(60_000);
  expect(server.opened.length).toBe(0);
});
