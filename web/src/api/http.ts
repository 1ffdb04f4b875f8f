/** HTTP requests: typed by route, with a timeout, and with retries that take effect once. */
import { type Environment, retryDelay } from "../environment";
import { ModeSwitches, SWITCH_ROUTE, startsTurn } from "./modeSwitches";
import type { Problem, Routes } from "./schema";
import { ConnectionLost, ServerError, isUnsaved } from "./types";

export type Route = keyof Routes;

/** The path parameters, query and body that a route declares. */
export type RequestInput<R extends Route> = (Record<string, never> extends Routes[R]["path"]
  ? { path?: never }
  : { path: Routes[R]["path"] }) &
  (Record<string, never> extends Routes[R]["query"] ? { query?: Routes[R]["query"] } : { query: Routes[R]["query"] }) &
  (Routes[R] extends { body: infer Body } ? { body: Body } : { body?: never });

interface RequestOptions {
  /** Idempotency key. A request with a key is retried until the server answers. */
  key?: string;
  /** Whether the request is idempotent and therefore retried. */
  isRepeatable?: boolean;
  /** Rejects at once if the server cannot save, instead of retrying while the interface shows the change as done. */
  failsWhenUnsaved?: boolean;
  /** Requests of one lane reach the server in the order of their calls, including retries. */
  lane?: string;
  /** Once aborted, the request never resolves: a response in flight is dropped. */
  signal?: AbortSignal;
}

/** Rejects with ServerError if the server refuses, and with ConnectionLost if there is no response. */
export type Api = <R extends Route>(
  route: R,
  input: RequestInput<R>,
  options?: RequestOptions,
) => Promise<Routes[R]["answer"]>;

/**
 * The server's address and headers. The web client uses its own origin and the path prefix of its page, and the browser
 * sends the cookie.
 */
export interface Server {
  fetch: typeof fetch;
  base?: string;
  headers?: Record<string, string>;
}

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Creates the API client. Requests that start a turn wait for the mode switches in flight, and are rejected if the last
 * switch failed.
 */
export function createApi(server: Server, environment: Environment, switches = new ModeSwitches()): Api {
  const lanes = new Map<string, Promise<unknown>>();
  const request: Api = async (route, input, options = {}) => {
    const isRetried = options.key !== undefined || options.isRepeatable === true;
    for (let failures = 1; ; failures++) {
      try {
        const answer = await sendOnce(server, environment, route, input, options);
        if (options.signal?.aborted === true) throw new ConnectionLost(`nobody waits for ${route}`);
        return answer;
      } catch (error) {
        const isUnsavedFailure =
          options.failsWhenUnsaved === true && error instanceof ServerError && isUnsaved(error.problem);
        const isFinal = !isRetried || isUnsavedFailure || options.signal?.aborted === true || !isTemporary(error);
        if (isFinal) throw error;
        await new Promise<void>((resolve) => environment.schedule(retryDelay(failures, environment), resolve));
      }
    }
  };
  const requestInLane: Api = (route, input, options = {}) => {
    const { lane } = options;
    const context = contextOf(input);
    const waitsForSwitch = startsTurn(route) && context !== null;
    // Waiting starts here: a switch that fails while the request is queued in its lane rejects the request, too.
    const gate = waitsForSwitch && switches.isPending(context) ? switches.settled(context) : null;
    gate?.catch(() => {}); // `send` awaits the gate and reports the failure to the caller
    const send = async () => {
      await gate;
      while (waitsForSwitch && switches.isPending(context)) await switches.settled(context);
      return request(route, input, options);
    };
    if (lane === undefined) return gate === null ? request(route, input, options) : send();
    const answer = lanes.get(lane)?.then(send, send) ?? send();
    lanes.set(lane, answer);
    const clearLane = () => lanes.get(lane) === answer && lanes.delete(lane);
    answer.then(clearLane, clearLane);
    return answer;
  };
  return (route, input, options) => {
    const context = contextOf(input);
    const answer = requestInLane(route, input, options);
    if (route !== SWITCH_ROUTE || context === null) return answer;
    const end = switches.begin(context);
    answer.then(
      () => end("switched"),
      () => end("stayed"),
    );
    return answer;
  };
}

function contextOf({ path }: { path?: object | undefined }): string | null {
  return path !== undefined && "context_id" in path ? String(path.context_id) : null;
}

export function isTemporary(error: unknown): boolean {
  return error instanceof ConnectionLost || (error instanceof ServerError && error.isTemporary);
}

async function sendOnce<R extends Route>(
  server: Server,
  environment: Environment,
  route: R,
  input: RequestInput<R>,
  options: RequestOptions,
): Promise<Routes[R]["answer"]> {
  const [method = "GET", template = ""] = route.split(" ");
  const headers: Record<string, string> = { ...server.headers };
  const isText = typeof input.body === "string"; // the only text body is an exported conversation
  if (input.body !== undefined) headers["content-type"] = isText ? "application/x-ndjson" : "application/json";
  if (options.key !== undefined) headers["idempotency-key"] = options.key;
  const controller = new AbortController();
  const abort = () => controller.abort();
  const cancel = environment.schedule(REQUEST_TIMEOUT_MS, abort);
  options.signal?.addEventListener("abort", abort);
  if (options.signal?.aborted) abort();
  let response: Response;
  let text: string;
  try {
    const body = input.body === undefined ? null : isText ? String(input.body) : JSON.stringify(input.body);
    const url = (server.base ?? "") + urlOf(template, input);
    response = await server.fetch(url, {
      method,
      headers,
      body,
      signal: controller.signal,
      credentials: "same-origin",
    });
    text = await response.text();
  } catch (error) {
    throw new ConnectionLost(`no answer to ${route}`, { cause: error });
  } finally {
    cancel();
    options.signal?.removeEventListener("abort", abort);
  }
  if (!response.ok) throw new ServerError(problemOf(response.status, text));
  if (text === "") return null as Routes[R]["answer"];
  return (response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text) as Routes[R]["answer"];
}

export function urlOf(template: string, input: { path?: object | undefined; query?: object | undefined }): string {
  const pathParameters = (input.path ?? {}) as Record<string, string>;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(pathParameters[name] ?? ""));
  const parameters = Object.entries(input.query ?? {}).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** The problem of an error response; a proxy's response has no code. */
export function problemOf(status: number, text: string): Problem {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "code" in body) return body as Problem;
  } catch {
    // not JSON: the response comes from a proxy
  }
  return { title: "", status, code: "", detail: text.slice(0, 200) };
}
