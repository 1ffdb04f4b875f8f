/**
 * Measures the web client in a real browser, and prints each figure as a line of JSON. `benchmarks/page.py` starts it
 * with a server, a model and conversations of 100, 1,000 and 10,000 messages. It only prints; the limits are checked by
 * its caller.
 */
import { type Browser, type Page } from "playwright-core";
import { launch } from "../e2e/browser";
import { idleFrames, plainList, plainText } from "./baselines";
import { interactions } from "./interactions";
import { firstLoad, openingTimes, memory } from "./loading";
import { sizes } from "./sizes";
import { measure } from "./store";
import { drift, streaming } from "./streaming";

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly floor?: number | undefined;
}

/** The subject of the measurements: a server with its conversations, and a browser. */
export interface Bench {
  readonly browser: Browser;
  readonly contexts: Readonly<Record<string, string>>;
  request(method: string, path: string, body?: object): Promise<unknown>;
  /** Opens a page with an empty cache. */
  open(): Promise<Page>;
  close(page: Page): Promise<void>;
}

const { BENCH_LINK: base = "", BENCH_TOKEN: token = "", BENCH_CONTEXTS: contexts = "{}" } = process.env;

async function run(): Promise<void> {
  const browser = await launch();
  const bench: Bench = {
    browser,
    contexts: JSON.parse(contexts) as Record<string, string>,
    async request(method, path, body) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(base + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
      return answer.json();
    },
    async open() {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
      const page = await context.newPage();
      await context.request.post(`${base}/`, { form: { token }, headers: { origin: base } });
      await page.goto(base);
      await page.locator(".tabs-list button").first().waitFor();
      return page;
    },
    close: (page) => page.context().close(),
  };
  for (const id of Object.values(bench.contexts))
    await bench.request("PUT", "/api/session/active-context", { context_id: id });
  const [idle, slowIdle] = [await idleFrames(bench, 1), await idleFrames(bench, 4)];
  const text = await plainText(bench);
  const parts: (() => Promise<readonly Figure[]>)[] = [
    () => sizes(),
    () => firstLoad(bench),
    async () => openingTimes(bench, await plainList(bench)),
    () => memory(bench),
    () => streaming(bench, 1, idle, text),
    () => streaming(bench, 4, slowIdle, text),
    () => drift(bench),
    () => interactions(bench, 1),
    () => interactions(bench, 4),
    async () => store(),
  ];
  for (const part of parts) {
    try {
      for (const figure of await part()) console.log(JSON.stringify(figure));
    } catch (error) {
      console.error(error); // the remaining figures are still printed
    }
  }
  await browser.close();
}

/** The store with 10,000 messages, with 100 messages as the baseline. */
function store(): readonly Figure[] {
  const [few, many] = [measure(100), measure(10_000)];
  return [
    { name: "store: a piece, 10,000 messages (floor 100)", unit: "us", ours: many.delta, floor: few.delta },
    { name: "store: a state, 10,000 messages (floor 100)", unit: "us", ours: many.state, floor: few.state },
    { name: "store: a message, 10,000 (floor 100)", unit: "us", ours: many.added, floor: few.added },
  ];
}

await run();
