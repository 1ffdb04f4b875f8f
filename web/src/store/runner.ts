/** Keeps a store right: pulls what it wants, follows what it has, carries out what the person asks for. */
import { type Ambient, pauseAfter } from "../ambient";
import type { OpenStream } from "../api/events";
import { type Api, isTemporary } from "../api/http";
import { ServerError, problemOfError } from "../api/types";
import { type Answer, type Command, carryOut } from "./commands";
import type { Answered, Pull } from "./events";
import { PAGE } from "./state";
import type { Store } from "./store";
import { followed, nextDue, wants } from "./wants";

const PULLS_AT_ONCE = 6;

export interface Runner {
  /** Gives the key under which it is found in `outgoing` until it is done. */
  act(command: Command): string;
  /** Tries again at once whatever waits to be tried again. */
  wake(): void;
  close(): void;
}

/** `onAnswer` hears what became of each command that was taken. */
export function run(
  store: Store,
  api: Api,
  openStream: OpenStream,
  ambient: Ambient,
  onAnswer: (answer: Answer) => void = () => {},
): Runner {
  const inFlight = new Map<string, AbortController>();
  const failing = new Map<string, { failures: number; cancel: (() => void) | null }>();
  let cancelClock: (() => void) | null = null;
  let isClosed = false;

  const stream = openStream({
    signal: (signal) => store.dispatch({ type: "signal", signal }),
    up() {
      forgive();
      store.dispatch({ type: "up" });
    },
    down: () => store.dispatch({ type: "down" }),
    refused: (problem) => store.dispatch({ type: "locked_out", problem }),
  });

  async function pull(name: string, wanted: Pull): Promise<void> {
    const { tick: asked } = store.getSnapshot();
    const controller = new AbortController();
    inFlight.set(name, controller);
    try {
      const answered = {
        type: "answered",
        kind: wanted.kind,
        pull: wanted,
        asked,
        answer: await ask(api, wanted, controller.signal),
      };
      inFlight.delete(name);
      failing.delete(name);
      if (!isClosed) store.dispatch(answered as Answered);
    } catch (error) {
      inFlight.delete(name);
      if (isClosed) return;
      putOff(name);
      if (error instanceof ServerError && !isTemporary(error)) {
        store.dispatch({ type: "failed", pull: wanted, asked, problem: error.problem });
      }
    }
  }

  function forgive(): void {
    for (const { cancel } of failing.values()) cancel?.();
    failing.clear();
  }

  function putOff(name: string): void {
    const failures = (failing.get(name)?.failures ?? 0) + 1;
    const again = () => {
      failing.set(name, { failures, cancel: null });
      look();
    };
    failing.set(name, { failures, cancel: ambient.later(pauseAfter(failures, ambient), again) });
  }

  /** Looks at the state: what does it want that is not on its way? */
  function look(): void {
    if (isClosed) return;
    const state = store.getSnapshot();
    stream.follow(followed(state));
    for (const wanted of wants(state)) {
      const name = nameOf(wanted);
      if (inFlight.size >= PULLS_AT_ONCE) break;
      if (!inFlight.has(name) && (failing.get(name)?.cancel ?? null) === null) void pull(name, wanted);
    }
    cancelClock?.();
    const due = nextDue(state);
    cancelClock = due === null ? null : ambient.later(due - state.now, () => store.dispatch({ type: "clock" }));
  }

  const unsubscribe = store.subscribe(look);
  look();
  return {
    act(command) {
      const key = ambient.newId();
      const { tick: asked } = store.getSnapshot();
      store.dispatch({ type: "sent", key, command });
      carryOut(api, key, command).then(
        (answer) => {
          if (isClosed) return;
          store.dispatch({ type: "acknowledged", key, asked, answer });
          onAnswer(answer);
        },
        (error: unknown) => isClosed || store.dispatch({ type: "refused", key, problem: problemOfError(error) }),
      );
      return key;
    },
    wake() {
      forgive();
      stream.wake();
      look();
    },
    close() {
      isClosed = true;
      unsubscribe();
      stream.close();
      cancelClock?.();
      for (const { cancel } of failing.values()) cancel?.();
      for (const controller of inFlight.values()) controller.abort();
    },
  };
}

/** Of pulls with the same name, one at a time is on its way. */
export function nameOf(pull: Pull): string {
  return [pull.kind, "id" in pull ? pull.id : "", pull.kind === "text" ? pull.message : ""].join(" ");
}

function ask(api: Api, pull: Pull, signal: AbortSignal): Promise<unknown> {
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
      const given = { path: { context_id: pull.id, branch: pull.branch }, query: { before: pull.before, limit: PAGE } };
      return api("GET /api/contexts/{context_id}/branches/{branch}", given, { signal });
    }
    case "text": {
      const path = { context_id: pull.id, message_id: pull.message };
      const query = { from_sequence: pull.from };
      return api("GET /api/contexts/{context_id}/messages/{message_id}/content", { path, query }, { signal });
    }
  }
}
