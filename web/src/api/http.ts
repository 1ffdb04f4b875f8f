/** Requests: typed by the route, with a time limit, and said once however often the connection breaks. */
import { type Ambient, pauseAfter } from "../ambient";
import { ModeSwitches, SWITCH, isStarting } from "./modeSwitches";
import type { Problem, Routes } from "./schema";
import { Lost, ServerError, isUnsaved } from "./types";

export type Route = keyof Routes;

/** What a request is given: the parts of its path, its query and its body, as far as it has them. */
export type Given<R extends Route> = (Record<string, never> extends Routes[R]["path"]
  ? { path?: never }
  : { path: Routes[R]["path"] }) &
  (Record<string, never> extends Routes[R]["query"] ? { query?: Routes[R]["query"] } : { query: Routes[R]["query"] }) &
  (Routes[R] extends { body: infer Body } ? { body: Body } : { body?: never });

export interface RequestOptions {
  /** The server does a request with the same key once, so that it is tried again until there is an answer. */
  key?: string;
  /** It does no harm to do it twice: tried again, too. */
  isRepeatable?: boolean;
  /** A server that cannot save is told at once: the person sees what they asked for as done, and it is not. */
  isToldUnsaved?: boolean;
  /** Requests of one lane reach the server in the order in which they were made, however often each is tried again. */
  lane?: string;
  /** Once aborted, the request never resolves: an answer that is already on its way is dropped. */
  signal?: AbortSignal;
}

/** Rejects with ServerError when the server refuses, and with Lost when there is no answer. */
export type Api = <R extends Route>(
  route: R,
  given: Given<R>,
  options?: RequestOptions,
) => Promise<Routes[R]["answer"]>;

/** Where the server is. In the page that is its own origin, and the browser sends the cookie. */
export interface Server {
  fetch: typeof fetch;
  base?: string;
  headers?: Record<string, string>;
}

const ANSWER_WITHIN = 30_000;

/** What starts a turn waits for the `switches` of the mode that are under way, and is refused where the last one failed. */
export function makeApi(server: Server, ambient: Ambient, switches = new ModeSwitches()): Api {
  const lanes = new Map<string, Promise<unknown>>();
  const request: Api = async (route, given, options = {}) => {
    const isTriedAgain = options.key !== undefined || options.isRepeatable === true;
    for (let failures = 1; ; failures++) {
      try {
        const answer = await once(server, ambient, route, given, options);
        if (options.signal?.aborted === true) throw new Lost(`nobody waits for ${route}`);
        return answer;
      } catch (error) {
        const isUnsavedTold =
          options.isToldUnsaved === true && error instanceof ServerError && isUnsaved(error.problem);
        const isOver = !isTriedAgain || isUnsavedTold || options.signal?.aborted === true || !isTemporary(error);
        if (isOver) throw error;
        await new Promise<void>((resolve) => ambient.later(pauseAfter(failures, ambient), resolve));
      }
    }
  };
  const inLane: Api = (route, given, options = {}) => {
    const { lane } = options;
    const context = contextOf(given);
    const isHeld = isStarting(route) && context !== null;
    // The switches of now count, also where one of them fails while the request waits for its turn in the lane.
    const gate = isHeld && switches.isUnderWay(context) ? switches.settled(context) : null;
    gate?.catch(() => {}); // told to who sent the request, in its turn
    const send = async () => {
      await gate;
      while (isHeld && switches.isUnderWay(context)) await switches.settled(context);
      return request(route, given, options);
    };
    if (lane === undefined) return gate === null ? request(route, given, options) : send();
    const answer = lanes.get(lane)?.then(send, send) ?? send();
    lanes.set(lane, answer);
    const leave = () => lanes.get(lane) === answer && lanes.delete(lane);
    answer.then(leave, leave);
    return answer;
  };
  return (route, given, options) => {
    const context = contextOf(given);
    const answer = inLane(route, given, options);
    if (route !== SWITCH || context === null) return answer;
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
  return error instanceof Lost || (error instanceof ServerError && error.isTemporary);
}

async function once<R extends Route>(
  server: Server,
  ambient: Ambient,
  route: R,
  given: Given<R>,
  options: RequestOptions,
): Promise<Routes[R]["answer"]> {
  const [method = "GET", template = ""] = route.split(" ");
  const headers: Record<string, string> = { ...server.headers };
  const isText = typeof given.body === "string"; // the only text that is sent is an exported conversation
  if (given.body !== undefined) headers["content-type"] = isText ? "application/x-ndjson" : "application/json";
  if (options.key !== undefined) headers["idempotency-key"] = options.key;
  const controller = new AbortController();
  const stop = () => controller.abort();
  const cancel = ambient.later(ANSWER_WITHIN, stop);
  options.signal?.addEventListener("abort", stop);
  if (options.signal?.aborted) stop();
  let answer: Response;
  let text: string;
  try {
    const body = given.body === undefined ? null : isText ? String(given.body) : JSON.stringify(given.body);
    const address = (server.base ?? "") + addressOf(template, given);
    answer = await server.fetch(address, {
      method,
      headers,
      body,
      signal: controller.signal,
      credentials: "same-origin",
    });
    text = await answer.text();
  } catch (error) {
    throw new Lost(`no answer to ${route}`, { cause: error });
  } finally {
    cancel();
    options.signal?.removeEventListener("abort", stop);
  }
  if (!answer.ok) throw new ServerError(problemOf(answer.status, text));
  if (text === "") return null as Routes[R]["answer"];
  return (answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text) as Routes[R]["answer"];
}

export function addressOf(template: string, given: { path?: object | undefined; query?: object | undefined }): string {
  const parts = (given.path ?? {}) as Record<string, string>;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts[name] ?? ""));
  const asked = Object.entries(given.query ?? {}).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(asked.map(([name, value]) => [name, String(value)])).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** What a refusal says; where something between us and the server has answered, what can be said of that. */
export function problemOf(status: number, text: string): Problem {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && "code" in found) return found as Problem;
  } catch {
    // no JSON: not our server
  }
  return { title: "", status, code: "", detail: text.slice(0, 200) };
}
