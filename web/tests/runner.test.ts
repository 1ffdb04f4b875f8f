import { expect, test } from "vitest";
import { visibleMessages } from "../src/store/selectors";
import { makeClock } from "./clock";
import { makeNetwork } from "./network";

async function opened(length: number) {
  const clock = makeClock();
  const network = makeNetwork(clock);
  for (const id of ["a", "b"]) {
    network.model.create(id, length);
    network.model.openTab(id, id === "a");
  }
  const runner = network.start();
  await network.calm();
  return { clock, network, runner };
}

test("a conversation of 10,000 messages opens with its last page, and older pages load on demand", async () => {
  const { network } = await opened(10_000);
  expect(network.counts.requests).toBeLessThan(8);
  const first = visibleMessages(network.store.getSnapshot(), "a");
  expect([first.messages.length, first.hasOlder]).toEqual([8, true]);
  network.store.dispatch({ type: "older", id: "a" });
  await network.calm();
  expect(visibleMessages(network.store.getSnapshot(), "a").messages.length).toBe(58);
});

test("200 deltas cause no pull of the context, and one text pull at a time", async () => {
  const { network, clock } = await opened(10);
  network.model.change("say", "a");
  await network.calm();
  const before = network.counts.requests;
  for (let piece = 0; piece < 200; piece++) {
    network.model.change("write", "a");
    while (network.signals.length > 0) network.deliver(0);
    await clock.settle();
    expect(network.pending.every(({ address }) => address.includes("/content"))).toBe(true);
    if (piece % 3 === 0) network.answer(0);
    await clock.pass(30);
  }
  await network.calm();
  expect(network.counts.requests - before).toBeLessThan(80);
  expect(visibleMessages(network.store.getSnapshot(), "a").streaming[0]?.sequence).toBe(200);
});

test("messages of an inactive context are dropped after a minute and fetched again on return", async () => {
  const { network, clock, runner } = await opened(60);
  runner.act({ kind: "activate", id: "b" });
  await network.calm();
  const held = () => Object.keys(network.store.getSnapshot().contexts.a!.messages).length;
  expect(held()).toBeGreaterThan(0);
  await clock.pass(61_000);
  expect(held()).toBe(0);
  const before = network.counts.requests;
  for (let turn = 0; turn < 5; turn++) network.model.change("touch", "a");
  await network.calm();
  expect(network.counts.requests - before).toBeLessThanOrEqual(5);
  runner.act({ kind: "activate", id: "a" });
  await network.calm();
  expect(visibleMessages(network.store.getSnapshot(), "a").messages.length).toBe(8);
});

test("a sent message shows at once and only once, however often the connection breaks", async () => {
  const { network, clock, runner } = await opened(3);
  const counts: number[] = [];
  const count = () => {
    const { messages, sending } = visibleMessages(network.store.getSnapshot(), "a");
    return messages.filter((each) => each.type === "text" && each.content === "mine").length + sending.length;
  };
  network.store.subscribe(() => counts.push(count()));
  runner.act({ kind: "send", id: "a", body: { payloads: [{ type: "text", content: "mine" }] } });
  for (let turn = 0; turn < 3; turn++) {
    await clock.settle();
    network.serve(turn);
    network.fail(0);
    await clock.pass(5_000);
  }
  await network.calm();
  expect(new Set(counts)).toEqual(new Set([1]));
  expect(visibleMessages(network.store.getSnapshot(), "a").sending).toEqual([]);
});
