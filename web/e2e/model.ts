/**
 * The model of a story: a fake provider on a real socket with scripted answers. It can pause in the middle of an
 * answer.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PYTHON } from "../tests/serverProcess";

const WAIT_TIMEOUT_MS = 30_000;

export interface Call {
  readonly tool: string;
  readonly arguments: object;
}

/** The script format of src/pilothouse/llm/script.py. `hold` is the number of events after which the model pauses. */
export interface Answer {
  readonly text?: string;
  readonly deltas?: readonly string[];
  readonly calls?: readonly Call[];
  readonly error?: { readonly status: number; readonly message?: string };
  readonly cut?: number;
  readonly hold?: number;
  readonly finish?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

/** The parts of a request that stories check. */
interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

type ProviderMessage = { url?: string; request?: ModelRequest; held?: true; fault?: string };

export async function makeModel() {
  const child = spawn(PYTHON, [join(import.meta.dirname, "provider.py")], { stdio: ["pipe", "pipe", "inherit"] });
  await once(child, "spawn");
  const requests: ModelRequest[] = [];
  const faults: string[] = [];
  let isHeld = false;
  let listeners: (() => void)[] = [];
  let url = "";
  createInterface(child.stdout).on("line", (line) => {
    const message: ProviderMessage = JSON.parse(line);
    url = message.url ?? url;
    if (message.request !== undefined) requests.push(message.request);
    if (message.fault !== undefined) faults.push(message.fault);
    if (message.held !== undefined) isHeld = true;
    for (const each of listeners) each();
  });
  const send = (command: object) => child.stdin.write(`${JSON.stringify(command)}\n`);
  const waitUntil = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("the model waited in vain")), WAIT_TIMEOUT_MS);
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        listeners = listeners.filter((each) => each !== check);
        resolve();
      };
      listeners.push(check);
      check();
    });
  let callCount = 0;
  const withIds = (answer: Answer): object => ({
    ...answer,
    ...(answer.calls === undefined
      ? {}
      : { calls: answer.calls.map((call) => ({ ...call, id: `call_${++callCount}` })) }),
  });
  await waitUntil(() => url !== "");
  return {
    url,
    requests,
    faults,
    /** Appends answers to the script. A string is a text answer. */
    answers(...answers: (Answer | string)[]) {
      for (const each of answers) send({ answer: typeof each === "string" ? { text: each } : withIds(each) });
    },
    /** Waits until the model has paused in the middle of an answer. */
    waitForHold: () => waitUntil(() => isHeld),
    release() {
      isHeld = false;
      send({ release: true });
    },
    /** Waits for the given number of requests, and returns the last of them. */
    async waitForRequest(times: number): Promise<ModelRequest> {
      await waitUntil(() => requests.length >= times);
      const request = requests[times - 1];
      if (request === undefined) throw new Error("the model was not asked");
      return request;
    },
    async end() {
      const ended = child.exitCode === null ? once(child, "exit") : null;
      child.stdin.end();
      await ended;
    },
  };
}
