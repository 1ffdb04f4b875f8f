/** Keeps the store in step with the server: fetches missing data, subscribes to the open contexts, sends commands. */
import { type Environment, retryDelay } from "../environment";
import type { OpenStream } from "../api/signalStream";
import { type Api, isTemporary } from "../api/http";
import { ServerError, problemOfError } from "../api/types";
import { type Answer, type Command, sendCommand } from "./commands";
import type { PullResponse, Pull } from "./events";
import { MESSAGES_PER_PAGE } from "./state";
import type { Store } from "./store";
import { followedContexts, nextDue, wants } from "./wants";

const MAX_CONCURRENT_PULLS = 6;

interface Runner {
  /** Sends a command. Returns its key in `outgoing`. */
  act(command: Command): string;
  /** Retries all pending retries at once. */
  wake(): void;
  close(): void;
}

/** Starts the runner. `onAnswer` receives the server's answer to each command. */
export function startRunner(
  store: Store,
  api: Api,
  openStream: OpenStream,
  environment: Environment,
  onAnswer: (answer: Answer) => void = () => {},
): Runner {
  const inFlight = new Map<string, AbortController>();
  const retries = new Map<string, { failures: number; cancel: (() => void) | null }>();
  let cancelClock: (() => void) | null = null;
  let isClosed = false;

  const stream = openStream({
    signal: (signal) => store.dispatch({ type: "signal", signal }),
    up() {
      resetFailures();
      store.dispatch({ type: "up" });
    },
    down: () => store.dispatch({ type: "down" }),
    rejected: (problem) => store.dispatch({ type: "locked_out", problem }),
  });

  async function pull(key: string, request: Pull): Promise<void> {
    const { tick: requestedAt } = store.getSnapshot();
    const controller = new AbortController();
    inFlight.set(key, controller);
    try {
      const event = {
        type: "answered",
        kind: request.kind,
        pull: request,
        requestedAt,
        answer: await requestPull(api, request, controller.signal),
      };
      inFlight.delete(key);
      retries.delete(key);
      if (!isClosed) store.dispatch(event as PullResponse);
    } catch (error) {
      inFlight.delete(key);
      if (isClosed) return;
      scheduleRetry(key);
      if (error instanceof ServerError && !isTemporary(error)) {
        store.dispatch({ type: "failed", pull: request, requestedAt, problem: error.problem });
      }
    }
  }

  function resetFailures(): void {
    for (const { cancel } of retries.values()) cancel?.();
    retries.clear();
  }

  function scheduleRetry(key: string): void {
    const failures = (retries.get(key)?.failures ?? 0) + 1;
    const retry = () => {
      retries.set(key, { failures, cancel: null });
      update();
    };
    retries.set(key, { failures, cancel: environment.schedule(retryDelay(failures, environment), retry) });
  }

  /** Starts the missing pulls that are not in flight. */
  function update(): void {
    if (isClosed) return;
    const state = store.getSnapshot();
    stream.follow(followedContexts(state));
    for (const request of wants(state)) {
      const key = pullKey(request);
      if (inFlight.size >= MAX_CONCURRENT_PULLS) break;
      if (!inFlight.has(key) && (retries.get(key)?.cancel ?? null) === null) void pull(key, request);
    }
    cancelClock?.();
    const due = nextDue(state);
    cancelClock = due === null ? null : environment.schedule(due - state.now, () => store.dispatch({ type: "clock" }));
  }

  const unsubscribe = store.subscribe(update);
  update();
  return {
    act(command) {
      const key = environment.newId();
      const { tick: requestedAt } = store.getSnapshot();
      store.dispatch({ type: "sent", key, command });
      sendCommand(api, key, command).then(
        (answer) => {
          if (isClosed) return;
          store.dispatch({ type: "acknowledged", key, requestedAt, answer });
          onAnswer(answer);
        },
        (error: unknown) => isClosed || store.dispatch({ type: "refused", key, problem: problemOfError(error) }),
      );
      return key;
    },
    wake() {
      resetFailures();
      stream.wake();
      update();
    },
    close() {
      isClosed = true;
      unsubscribe();
      stream.close();
      cancelClock?.();
      for (const { cancel } of retries.values()) cancel?.();
      for (const controller of inFlight.values()) controller.abort();
    },
  };
}

/** The key of a pull. At most one pull per key is in flight. */
function pullKey(pull: Pull): string {
  return [pull.kind, "id" in pull ? pull.id : "", pull.kind === "text" ? pull.message : ""].join(" ");
}

function requestPull(api: Api, pull: Pull, signal: AbortSignal): Promise<unknown> {
  switch (pull.kind) {
    case "session":
      return api("GET /api/session", {}, { signal });
    case "context":
      return api("GET /api/contexts/{context_id}", { path: { context_id: pull.id } }, { signal });
    case "messages":
      return api(
        "GET /api/contexts/{context_id}/messages",
        { path: { context_id: pull.id }, query: { ids: pull.ids.join(",") } },
        { signal },
      );
    case "older": {
      const input = {
        path: { context_id: pull.id, branch: pull.branch },
        query: { before: pull.before, limit: MESSAGES_PER_PAGE },
      };
      return api("GET /api/contexts/{context_id}/branches/{branch}", input, { signal });
    }
    case "text": {
      const path = { context_id: pull.id, message_id: pull.message };
      const query = { from_sequence: pull.from };
      return api("GET /api/contexts/{context_id}/messages/{message_id}/content", { path, query }, { signal });
    }
  }
}
