import { expect, test } from "vitest";
import { createApi } from "../src/api/http";
import { MODE_NOT_SWITCHED, ModeSwitches } from "../src/api/modeSwitches";
import { ServerError } from "../src/api/types";
import { type Command, sendCommand } from "../src/store/commands";
import { makeClock } from "./clock";

/** A server that answers each request when the test says so. */
function makeServer() {
  const requests: { name: string; answer(status?: number, code?: string): void }[] = [];
  const fetch = ((address: string, request: RequestInit) =>
    new Promise<Response>((resolve) => {
      const answer = (status = 200, code = "") => {
        const body = status < 400 ? {} : { title: "", status, code, detail: code };
        resolve(new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } }));
      };
      requests.push({ name: `${request.method} ${address.replace("/api/contexts/", "")}`, answer });
    })) as typeof globalThis.fetch;
  return { fetch, requests, names: () => requests.map(({ name }) => name) };
}

function makeWorld() {
  const server = makeServer();
  const switches = new ModeSwitches();
  const clock = makeClock();
  const api = createApi(server, clock, switches);
  let keys = 0;
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof ServerError ? error.problem.code : String(error)),
    );
  return {
    ...server,
    switches,
    api,
    outcome,
    act: (command: Command) => outcome(sendCommand(api, `key ${++keys}`, command)),
    settle: () => clock.pass(0),
  };
}

const send = (content: string, id = "a"): Command => ({
  kind: "send",
  id,
  body: { payloads: [{ type: "text", content }] },
});
const toPlan: Command = { kind: "mode", id: "a", mode: "plan", shown: [] };

test("a message sent during a mode switch reaches the server after the switch", async () => {
  const { switches, act, settle, requests, names } = makeWorld();
  // The selector requests the preview.
  const end = switches.begin("a");
  const sent = act(send("go"));
  await settle();
  expect(names()).toEqual([]);
  const switched = act(toPlan);
  end("superseded");
  await settle();
  expect(names()).toEqual(["PUT a/mode"]);
  requests[0]?.answer();
  await settle();
  expect(names()).toEqual(["PUT a/mode", "POST a/messages"]);
  requests[1]?.answer();
  expect(await Promise.all([sent, switched])).toEqual(["done", "done"]);
});

test("no request that starts or continues a turn overtakes a switch", async () => {
  const { switches, act, api, outcome, settle, names } = makeWorld();
  const end = switches.begin("a");
  const path = { context_id: "a", message_id: "m" };
  const body = { payloads: [{ type: "text", content: "x" }] } as const;
  const all = [
    act(send("go")),
    ...(["continue", "resume", "retry"] as const).map((action) => act({ kind: "control", id: "a", action })),
    outcome(api("POST /api/contexts/{context_id}/messages/{message_id}/edit", { path, body })),
    outcome(api("PATCH /api/contexts/{context_id}/queue/{message_id}", { path, body })),
    outcome(api("DELETE /api/contexts/{context_id}/queue/{message_id}", { path })),
  ];
  await settle();
  expect(names()).toEqual([]);
  end("stayed");
  expect(await Promise.all(all)).toEqual(all.map(() => MODE_NOT_SWITCHED));
  expect(names()).toEqual([]);
});

test("stopping and other conversations do not wait for a switch", async () => {
  const { switches, act, settle, names } = makeWorld();
  switches.begin("a");
  void act({ kind: "control", id: "a", action: "cancel" });
  void act({ kind: "control", id: "a", action: "pause" });
  void act(send("go", "b"));
  await settle();
  expect(names()).toEqual(["POST a/cancel", "POST a/pause", "POST b/messages"]);
});

test("a message is rejected with its failed switch, the next message is sent", async () => {
  const { act, settle, requests, names } = makeWorld();
  const switched = act(toPlan);
  const [first, second] = [act(send("one")), act(send("two"))];
  await settle();
  requests[0]?.answer(422, "unknown_mode");
  expect(await Promise.all([switched, first, second])).toEqual(["unknown_mode", MODE_NOT_SWITCHED, MODE_NOT_SWITCHED]);
  void act(send("three"));
  await settle();
  expect(names()).toEqual(["PUT a/mode", "POST a/messages"]);
});

test("the last of several switches decides", async () => {
  const { switches, act, settle, names } = makeWorld();
  const [one, two] = [switches.begin("a"), switches.begin("a")];
  const sent = act(send("go"));
  one("stayed");
  await settle();
  expect(names()).toEqual([]);
  two("switched");
  await settle();
  expect(names()).toEqual(["POST a/messages"]);
  const [three, four] = [switches.begin("a"), switches.begin("a")];
  const refused = act({ kind: "control", id: "a", action: "continue" });
  three("switched");
  four("stayed");
  expect(await refused).toBe(MODE_NOT_SWITCHED);
  void sent;
});

test("messages that wait for a switch keep their order", async () => {
  const { switches, act, settle, requests, names } = makeWorld();
  const end = switches.begin("a");
  void act(send("one"));
  void act(send("two"));
  end("switched");
  void act(send("three"));
  for (const count of [1, 2, 3]) {
    await settle();
    expect(names().length).toBe(count);
    requests[count - 1]?.answer();
  }
});
