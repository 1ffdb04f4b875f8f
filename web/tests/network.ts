/**
 * A network between the reference server and a store, controlled by the test: delays, losses, duplicates, reordering.
 */
import type { Listener, OpenStream } from "../src/api/signalStream";
import { createApi } from "../src/api/http";
import type { Signal } from "../src/api/types";
import { startRunner } from "../src/store/runner";
import { createStore } from "../src/store/store";
import type { TestClock } from "./clock";
import { makeModel } from "./model";

interface Pending {
  address: string;
  method: string;
  /** The response, once the server has produced it. */
  reply: { status: number; value: unknown } | null;
  serve(): { status: number; value: unknown };
  resolve(reply: { status: number; value: unknown }): void;
  reject(): void;
}

const UNKNOWN = { status: 404, value: { title: "", status: 404, code: "unknown_context", detail: "" } };
const BUSY = { status: 409, value: { title: "", status: 409, code: "turn_active", detail: "" } };

export function makeNetwork(clock: TestClock) {
  let listener: Listener | null = null;
  let followed: readonly string[] = [];
  let isUp = false;
  let isAsked = false;
  const signals: Signal[] = [];
  const pending: Pending[] = [];
  const counts = { requests: 0, signals: 0, failures: 0, connects: 0 };
  const model = makeModel((signal) => {
    const isHeard = signal.event === "SessionChanged" || followed.includes(signal.context_id ?? "");
    if (isUp && isHeard) signals.push(structuredClone(signal));
  });

  function serve(method: string, address: string, body: string | null, key: string | undefined) {
    const url = new URL(address, "http://model");
    const [, , noun = "", id = "", part, message] = url.pathname.split("/");
    if (noun === "session") {
      const contextId = method === "PUT" ? String(JSON.parse(body ?? "").context_id) : null;
      if (contextId !== null && !model.contexts.has(contextId)) return UNKNOWN;
      if (contextId !== null) model.openTab(contextId, true);
      return { status: 200, value: structuredClone(model.session) };
    }
    const context = model.contexts.get(id);
    if (context === undefined) return UNKNOWN;
    if (method === "POST") {
      const sent = model.send(id, key ?? "", JSON.parse(body ?? "").payloads[0].content);
      return sent === null ? BUSY : { status: 202, value: sent };
    }
    if (part === undefined) return { status: 200, value: model.shape(id) };
    if (part === "branches") {
      const branch = context.branches.get(message ?? "");
      if (branch === undefined) return UNKNOWN;
      const before = Math.min(Number(url.searchParams.get("before")), branch.ids.length);
      const message_ids = branch.ids.slice(Math.max(0, before - Number(url.searchParams.get("limit"))), before);
      return { status: 200, value: { name: branch.name, key: branch.key, length: branch.ids.length, message_ids } };
    }
    if (message !== undefined) {
      const isWhole = context.pool.get(message);
      if (context.writing?.id !== message && isWhole === undefined) return UNKNOWN;
      const from = Number(url.searchParams.get("from_sequence"));
      return {
        status: 200,
        value: (model.written.get(message) ?? []).map((delta, index) => ({ sequence: index + 1, delta })).slice(from),
      };
    }
    const ids = url.searchParams.get("ids")?.split(",") ?? [];
    return { status: 200, value: ids.flatMap((each) => structuredClone(context.pool.get(each)) ?? []) };
  }

  const fetch = ((address: string, request: RequestInit) => {
    counts.requests += 1;
    const headers = request.headers as Record<string, string>;
    return new Promise<Response>((resolve, reject) => {
      const mine: Pending = {
        address,
        method: request.method ?? "",
        reply: null,
        serve: () =>
          (mine.reply ??= serve(mine.method, address, request.body as string | null, headers["idempotency-key"])),
        resolve({ status, value }) {
          const headers = new Headers({ "content-type": "application/json" });
          resolve({
            ok: status < 400,
            status,
            headers,
            text: () => Promise.resolve(JSON.stringify(value)),
          } as Response);
        },
        reject: () => reject(new Error("cut")),
      };
      request.signal?.addEventListener("abort", () => {
        drop(mine);
        reject(new Error("aborted"));
      });
      pending.push(mine);
    });
  }) as typeof globalThis.fetch;

  function drop(each: Pending): void {
    const index = pending.indexOf(each);
    if (index >= 0) pending.splice(index, 1);
  }

  const openStream: OpenStream = (newListener) => {
    listener = newListener;
    return {
      follow(ids) {
        if (isAsked && ids.join() === followed.join()) return;
        isAsked = true;
        followed = ids;
        queueMicrotask(connect);
      },
      wake: () => {},
      close: () => void (isUp = false),
    };
  };

  function connect(): void {
    isUp = true;
    counts.connects += 1;
    signals.length = 0;
    listener?.up();
    signals.push(...structuredClone(model.present(followed)));
  }

  const store = createStore(clock);
  const start = () => startRunner(store, createApi({ fetch }, clock), openStream, clock);

  return {
    model,
    store,
    start,
    pending,
    signals,
    counts,
    get isUp() {
      return isUp;
    },
    connect,
    cut() {
      isUp = false;
      signals.length = 0;
      listener?.down();
    },
    deliver(index: number) {
      const [signal] = signals.splice(index % Math.max(1, signals.length), 1);
      if (signal !== undefined) {
        counts.signals += 1;
        listener?.signal(signal);
      }
    },
    lose: (index: number) => void signals.splice(index % Math.max(1, signals.length), 1),
    double(index: number) {
      const signal = signals[index % Math.max(1, signals.length)];
      if (signal !== undefined) signals.push(signal);
    },
    serve: (index: number) => void pending[index % Math.max(1, pending.length)]?.serve(),
    answer(index: number) {
      const [each] = pending.splice(index % Math.max(1, pending.length), 1);
      each?.resolve(each.serve());
    },
    fail(index: number) {
      const [each] = pending.splice(index % Math.max(1, pending.length), 1);
      if (each) {
        counts.failures += 1;
        each.reject();
      }
    },
    /** Makes the network reliable: everything in flight arrives, and every request is answered. */
    async calm() {
      for (let turn = 0; turn < 400; turn++) {
        await clock.settle();
        if (signals.length > 0) this.deliver(0);
        else if (pending.length > 0) this.answer(0);
        else {
          await clock.pass(1_000);
          if (signals.length + pending.length === 0 && turn > 20) return;
        }
      }
      throw new Error("it does not come to rest");
    },
  };
}

export type Network = ReturnType<typeof makeNetwork>;
