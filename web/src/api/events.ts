/** The page's one stream of signals: kept open, watched for silence, opened anew when the set of contexts changes. */
import { createParser } from "eventsource-parser";
import { type Ambient, pauseAfter } from "../ambient";
import { type Server, isTemporary, problemOf } from "./http";
import type { Problem } from "./schema";
import { ServerError, type Signal } from "./types";

export interface Listener {
  signal(signal: Signal): void;
  up(): void;
  /** The connection is lost; it is tried again by itself. */
  down(): void;
  /** The server does not want us: nothing is tried any more. */
  refused(problem: Problem): void;
}

export interface Stream {
  /** From now on, the signals of these contexts and of the session. */
  follow(contexts: readonly string[]): void;
  /** Opens it at once if it waits to be opened again, or was silent for longer than a living one is. */
  wake(): void;
  close(): void;
}

export type OpenStream = (listener: Listener) => Stream;

/** The server gives a sign of life every 15 seconds. */
const SILENCE = 35_000;
const LIFE = 16_000;

/**
 * A new stream first tells the present, so that nothing is lost between two of them: neither when the connection breaks
 * nor when the set of contexts changes.
 */
export function makeStream(server: Server, ambient: Ambient): OpenStream {
  return (listener) => {
    let contexts: string | null = null;
    let isClosed = false;
    let isRunning = false;
    let interrupt = (): void => {};
    let alive: number | null = null; // when it last gave a sign; none while it waits

    async function run(): Promise<void> {
      let failures = 0;
      while (!isClosed) {
        const controller = new AbortController();
        const followed = contexts;
        interrupt = () => controller.abort();
        alive = ambient.now();
        const live = () => {
          failures = 0;
          alive = ambient.now();
        };
        try {
          await listen(server, ambient, followed ?? "", controller, listener, live);
        } catch (error) {
          if (error instanceof ServerError && !isTemporary(error)) {
            isClosed = true;
            return listener.refused(error.problem);
          }
        }
        if (isClosed) return;
        if (contexts !== followed) continue;
        listener.down();
        failures += 1;
        alive = null;
        await new Promise<void>((resolve) => {
          const cancel = ambient.later(pauseAfter(failures, ambient), resolve);
          interrupt = () => (cancel(), resolve());
        });
      }
    }

    return {
      follow(ids) {
        const wanted = ids.join(",");
        if (isClosed || wanted === contexts) return;
        contexts = wanted;
        interrupt();
        if (!isRunning) void run();
        isRunning = true;
      },
      wake() {
        if (!isClosed && (alive === null || ambient.now() - alive > LIFE)) interrupt();
      },
      close() {
        isClosed = true;
        interrupt();
      },
    };
  };
}

/** One connection, from its beginning to its end. */
async function listen(
  server: Server,
  ambient: Ambient,
  contexts: string,
  controller: AbortController,
  listener: Listener,
  onLife: () => void,
): Promise<void> {
  let cancel = ambient.later(SILENCE, () => controller.abort());
  const alive = () => {
    cancel();
    cancel = ambient.later(SILENCE, () => controller.abort());
  };
  try {
    const address = `${server.base ?? ""}/api/stream?contexts=${encodeURIComponent(contexts)}`;
    const headers = { ...server.headers, accept: "text/event-stream" };
    const answer = await server.fetch(address, { headers, signal: controller.signal, credentials: "same-origin" });
    if (!answer.ok || answer.body === null) throw new ServerError(problemOf(answer.status, await answer.text()));
    const { feed } = createParser({
      onEvent: ({ event, data }) => listener.signal({ ...JSON.parse(data), event } as Signal),
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let isUp = false; ;) {
      const { done, value } = await reader.read();
      if (done || controller.signal.aborted) return;
      alive();
      onLife();
      if (!isUp) listener.up();
      isUp = true;
      feed(value);
    }
  } finally {
    cancel();
  }
}
