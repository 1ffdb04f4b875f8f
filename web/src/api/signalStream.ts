/** The client's one signal stream: kept open, checked for silence, reopened when the set of contexts changes. */
import { createParser } from "eventsource-parser";
import { type Environment, retryDelay } from "../environment";
import { type Server, isTemporary, problemOf } from "./http";
import type { Problem } from "./schema";
import { ServerError, type Signal } from "./types";

export interface Listener {
  signal(signal: Signal): void;
  up(): void;
  /** The connection is lost; the stream reconnects by itself. */
  down(): void;
  /** The server has rejected the stream: it does not reconnect. */
  rejected(problem: Problem): void;
}

interface Stream {
  /** Subscribes to the signals of these contexts and of the session. */
  follow(contexts: readonly string[]): void;
  /** Reconnects at once if the stream waits to reconnect or has missed a heartbeat. */
  wake(): void;
  close(): void;
}

export type OpenStream = (listener: Listener) => Stream;

/** The server sends a heartbeat every 15 seconds. */
const MAX_SILENCE_MS = 35_000;
const HEARTBEAT_MS = 16_000;

/**
 * Opens the stream. A new stream starts with the current state of every context, so no change is lost between two
 * streams.
 */
export function createStream(server: Server, environment: Environment): OpenStream {
  return (listener) => {
    let contexts: string | null = null;
    let isClosed = false;
    let isRunning = false;
    let interrupt = (): void => {};
    let lastDataAt: number | null = null; // null while the stream waits to reconnect

    async function run(): Promise<void> {
      let failures = 0;
      while (!isClosed) {
        const controller = new AbortController();
        const requested = contexts;
        interrupt = () => controller.abort();
        lastDataAt = environment.now();
        const onData = () => {
          failures = 0;
          lastDataAt = environment.now();
        };
        try {
          await listen(server, environment, requested ?? "", controller, listener, onData);
        } catch (error) {
          if (error instanceof ServerError && !isTemporary(error)) {
            isClosed = true;
            return listener.rejected(error.problem);
          }
        }
        if (isClosed) return;
        if (contexts !== requested) continue;
        listener.down();
        failures += 1;
        lastDataAt = null;
        await new Promise<void>((resolve) => {
          const cancel = environment.schedule(retryDelay(failures, environment), resolve);
          interrupt = () => (cancel(), resolve());
        });
      }
    }

    return {
      follow(ids) {
        const next = ids.join(",");
        if (isClosed || next === contexts) return;
        contexts = next;
        interrupt();
        if (!isRunning) void run();
        isRunning = true;
      },
      wake() {
        if (!isClosed && (lastDataAt === null || environment.now() - lastDataAt > HEARTBEAT_MS)) interrupt();
      },
      close() {
        isClosed = true;
        interrupt();
      },
    };
  };
}

/** Reads one connection until it ends. */
async function listen(
  server: Server,
  environment: Environment,
  contexts: string,
  controller: AbortController,
  listener: Listener,
  onData: () => void,
): Promise<void> {
  let cancel = environment.schedule(MAX_SILENCE_MS, () => controller.abort());
  const restartTimer = () => {
    cancel();
    cancel = environment.schedule(MAX_SILENCE_MS, () => controller.abort());
  };
  try {
    const url = `${server.base ?? ""}/api/stream?contexts=${encodeURIComponent(contexts)}`;
    const headers = { ...server.headers, accept: "text/event-stream" };
    const response = await server.fetch(url, { headers, signal: controller.signal, credentials: "same-origin" });
    if (!response.ok || response.body === null)
      throw new ServerError(problemOf(response.status, await response.text()));
    const { feed } = createParser({
      onEvent: ({ event, data }) => listener.signal({ ...JSON.parse(data), event } as Signal),
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let isUp = false; ;) {
      const { done, value } = await reader.read();
      if (done || controller.signal.aborted) return;
      restartTimer();
      onData();
      if (!isUp) listener.up();
      isUp = true;
      feed(value);
    }
  } finally {
    cancel();
  }
}
