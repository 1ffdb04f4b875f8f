import fc from "fast-check";
import { expect, test } from "vitest";
import type { ContextView } from "../src/api/schema";
import { activeId, visibleMessages } from "../src/store/selectors";
import { wants } from "../src/store/wants";
import { makeClock } from "./clock";
import { CHANGES, truth } from "./model";
import { type Network, makeNetwork } from "./network";

const IDS = ["a", "b", "c"];
const NETWORK = [
  "deliver",
  "deliver",
  "deliver",
  "lose",
  "double",
  "reorder",
  "serve",
  "answer",
  "answer",
  "answer",
  "fail",
  "cut",
  "connect",
  "pass",
] as const;
const PERSON = ["activate", "switch", "close", "older", "send", "remove", "recreate"] as const;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("change" as const), what: fc.constantFrom(...CHANGES), n: fc.nat(30) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("network" as const), what: fc.constantFrom(...NETWORK), n: fc.nat(30) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("person" as const), what: fc.constantFrom(...PERSON), n: fc.nat(30) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function world(seed: number) {
  const clock = makeClock(seed);
  const network = makeNetwork(clock);
  for (const id of IDS) network.model.create(id, id === "a" ? 120 : 0);
  network.model.openTab("a", true);
  network.model.openTab("b", false);
  const runner = network.start();
  await clock.settle();
  let sent = 0;

  async function take({ kind, what, n }: Step, isReliable: boolean): Promise<void> {
    const { model, store } = network;
    const active = activeId(store.getSnapshot());
    if (kind === "change") {
      const id = n % 3 === 0 ? "b" : (model.session.active_context_id ?? "a");
      model.change(what, id);
    } else if (kind === "network") {
      switch (isReliable && ["lose", "double", "reorder"].includes(what) ? "deliver" : what) {
        case "deliver":
          network.deliver(0);
          break;
        case "reorder":
          network.deliver(n);
          break;
        case "cut":
          if (network.isUp) network.cut();
          break;
        case "connect":
          if (!network.isUp) network.connect();
          break;
        case "pass":
          await clock.pass(n * 100);
          break;
        case "lose":
          network.lose(n);
          break;
        case "double":
          network.double(n);
          break;
        case "serve":
          network.serve(n);
          break;
        case "answer":
          network.answer(n);
          break;
        case "fail":
          network.fail(n);
          break;
      }
    } else {
      const id = IDS[n % 3]!;
      if (what === "activate") runner.act({ kind: "activate", id });
      if (what === "switch") model.openTab(id, true);
      if (what === "remove" && n < 8) model.remove(id);
      if (what === "recreate" && isReliable && !model.contexts.has(id)) {
        model.recreated.add(id);
        model.create(id, n);
        model.openTab(id, n % 2 === 0);
      }
      if (what === "close") model.closeTab(id);
      if (what === "older" && active !== null) store.dispatch({ type: "older", id: active });
      if (what === "send" && active !== null) {
        runner.act({ kind: "send", id: active, body: { payloads: [{ type: "text", content: `mine ${++sent}` }] } });
      }
    }
    await clock.settle();
  }
  return { clock, network, runner, take };
}

/** The invariants that hold after every event. Returns the check to run after each event. */
function checkInvariants(network: Network): () => void {
  let before = { active: null as string | null, count: 0, texts: new Map<string, string>() };
  return () => {
    const { model, store } = network;
    const state = store.getSnapshot();
    const active = activeId(state);
    if (active === null) return void (before = { active, count: 0, texts: new Map() });
    const copy = state.contexts[active];
    const visible = visibleMessages(state, active);
    const ids = [...visible.messages.map((each) => each.message_id), ...visible.streaming.map((each) => each.id)];
    expect(new Set(ids).size, "a message is shown twice").toBe(ids.length);
    // The model no longer has the lists of a context that was deleted and recreated.
    if (copy !== undefined && copy.shown.key !== "" && !model.recreated.has(active)) {
      const { key, firstPosition } = copy.shown;
      const isBlank = before.active === active && before.count > 0 && visible.messages.length === 0;
      expect(isBlank && copy.branch.ids.length > 0, "the messages were gone for a moment").toBe(false);
      expect(visible.messages.map((each) => each.message_id)).toEqual(
        model.lists.get(key)?.slice(firstPosition, firstPosition + copy.shown.ids.length),
      );
    }
    const texts = new Map(visible.streaming.map((each) => [each.id, each.text]));
    for (const { id, text } of visible.streaming)
      expect(model.written.get(id)?.join("").startsWith(text), "a text is none that was written").toBe(true);
    if (before.active === active && model.contexts.has(active) && !model.recreated.has(active)) {
      for (const [id, text] of before.texts) {
        if (texts.has(id)) expect(texts.get(id)?.startsWith(text), "a text has shrunk").toBe(true);
        else if (text !== "" && !ids.includes(id)) {
          expect(model.contexts.get(active)?.writing?.id === id, "a text is gone that is being written").toBe(false);
          expect(copy?.branch.ids.includes(id), "a text is gone that will be shown as a message").not.toBe(true);
        }
      }
    }
    for (const message of visible.messages) {
      if (message.type === "text" && model.written.has(message.message_id))
        expect(message.content).toBe(model.written.get(message.message_id)?.join(""));
    }
    for (const { id, view } of Object.values(state.contexts)) {
      const { value } = view;
      if (value !== null)
        expect(model.truths.has(truth(id, value.version, value.current_state)), "it never was so").toBe(true);
    }
    before = { active, count: visible.messages.length, texts };
  };
}

/** The streaming progress is compared with the text. */
function withoutSequence(shape: ContextView | null | undefined): unknown {
  return { ...shape, streaming: shape?.streaming?.message_id };
}

function expectConverged({ model, store }: Network): void {
  const state = store.getSnapshot();
  expect(wants(state)).toEqual([]);
  expect(state.session.value).toEqual(model.session);
  const tabs = (model.session.open_contexts ?? []).map((tab) => tab.context_id);
  const active = activeId(state);
  const isGone = active !== null && state.contexts[active]?.isGone === true;
  // A context that was recreated and closed in between remains gone for a client that looks at the old one.
  if (isGone) expect(model.contexts.has(active) && tabs.includes(active), "it is not gone").toBe(false);
  expect(Object.keys(state.contexts).sort()).toEqual([...tabs, ...(isGone ? [active] : [])].sort());
  for (const id of tabs)
    expect(withoutSequence(state.contexts[id]?.view.value)).toEqual(withoutSequence(model.shape(id)));
  if (active === null || isGone) return;
  const context = model.contexts.get(active)!;
  const list = context.branches.get(context.active)!.ids;
  const { firstPosition: first } = state.contexts[active]!.shown;
  const visible = visibleMessages(state, active);
  expect(visible.messages).toEqual(list.slice(first).map((id) => context.pool.get(id)));
  expect(first === 0 || visible.messages.length >= 8).toBe(true);
  expect(visible.streaming.map((each) => each.text).join()).toBe(context.writing?.pieces.join("") ?? "");
  expect(visible.sending.filter((each) => each.problem === null)).toEqual([]);
}

const AMOUNT = process.env.PILOTHOUSE_LONG
  ? { numRuns: 5_000, ...(process.env.PILOTHOUSE_SEED ? { seed: Number(process.env.PILOTHOUSE_SEED) } : {}) }
  : { numRuns: 600, seed: 20 };

const HEALED = {
  "whatever is lost, doubled, reordered or late, a new connection makes the copy the server's again": "connection",
  "whatever is lost, doubled, reordered or late, the next change makes the copy the server's again": "change",
  "where signals come as they were sent, however late the answers are, the copy needs nothing more": "nothing",
};

test.each(Object.entries(HEALED))("%s", { timeout: 600_000 }, async (_, action) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(step, { maxLength: 120, size: "max" }), async (seed, steps) => {
      const { network, take, runner } = await world(seed);
      const check = checkInvariants(network);
      // An exception thrown by a listener would reach the dispatcher.
      let failure: unknown = null;
      network.store.subscribe(() => {
        try {
          check();
        } catch (error) {
          failure ??= error;
        }
      });
      for (const each of steps) await take(each, action === "nothing");
      if (network.isUp && action === "connection") network.cut();
      if (!network.isUp) network.connect();
      await network.calm();
      if (action === "change") {
        network.model.create("d", 0);
        network.model.openTab("d", network.model.session.active_context_id === null);
        await network.calm();
        for (const id of [...IDS, "d"]) network.model.change("touch", id);
      }
      await network.calm();
      if (failure !== null) throw failure;
      expectConverged(network);
      const { requests, signals, failures, connects } = network.counts;
      expect(requests, "a storm of pulls").toBeLessThan(4 * (signals + failures + 3 * connects + steps.length / 4 + 5));
      runner.close();
    }),
    AMOUNT,
  );
});
