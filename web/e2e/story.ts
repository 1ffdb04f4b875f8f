/** A story: a test with its own server, data and folder, a scripted model, and pages that are checked for faults. */
import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHost } from "../tests/serverProcess";
import { type PageOptions, launch, newContext, hasRunInjectedCode, recordFaults } from "./browser";
import { makeModel } from "./model";
import { Screen } from "./screen";

let browser: Browser | null = null;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => browser?.close());

async function makeWorld(name: string, settings: Readonly<Record<string, string>>) {
  const model = await makeModel();
  const key = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "a-key-for-tests" };
  const env = { ...key, PILOTHOUSE_MODEL: `openai:${name}`, ...settings };
  const host = await makeHost(null, env);
  await host.start();
  const contexts: BrowserContext[] = [];
  const screens: Screen[] = [];
  const faults: string[] = [];
  const allowed: RegExp[] = [];
  /** Opens an empty page in a new browser context that is not signed in. */
  async function visit(options: PageOptions = {}): Promise<Page> {
    if (browser === null) throw new Error("there is no browser");
    const context = await newContext(browser, options);
    contexts.push(context);
    context.setDefaultTimeout(30_000);
    recordFaults(context, options.proxy ?? host.base, (text) => faults.push(text));
    return context.newPage();
  }
  return {
    model,
    host,
    visit,
    /** Opens the web client in a new browser context that is signed in. */
    async open(options: PageOptions = {}): Promise<Screen> {
      const page = await visit(options);
      const screen = new Screen(page, options.language ?? "en", options.isTouch ?? false);
      screens.push(screen);
      await page.request.post(`${host.base}/`, { form: { token: host.token }, headers: { origin: host.base } });
      await screen.page.goto(host.base);
      await screen.mode.waitFor();
      return screen;
    },
    /** Permits console errors that the story causes on purpose. */
    allow: (pattern: RegExp) => void allowed.push(pattern),
    /** Sends a request to the server directly. */
    async request<T>(method: "GET" | "POST" | "PATCH", path: string, body?: object): Promise<T> {
      const headers = { ...host.headers, "content-type": "application/json" };
      return (
        await fetch(host.base + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      ).json();
    },
    file: (name: string) => readFile(join(host.work, name), "utf8"),
    put: (name: string, text: string) => writeFile(join(host.work, name), text),
    async check() {
      for (const { page } of screens)
        if (!page.isClosed() && (await hasRunInjectedCode(page))) faults.push("code of others ran");
      expect(faults.filter((text) => !allowed.some((pattern) => pattern.test(text)))).toEqual([]);
      expect(model.faults).toEqual([]);
    },
    async screenshot(name: string): Promise<string> {
      const folder = join(tmpdir(), "pilothouse-stories");
      mkdirSync(folder, { recursive: true });
      const path = join(folder, name.replace(/\W+/g, "-"));
      for (const [index, { page }] of screens.entries())
        await page.screenshot({ path: `${path}-${index}.png` }).catch(() => {});
      return `${path}-*.png`;
    },
    async end() {
      for (const context of contexts) await context.close();
      await host.end("SIGKILL");
      await model.end();
      host.clear();
    },
  };
}

export type World = Awaited<ReturnType<typeof makeWorld>>;

/** Defines a story. `settings` are environment variables of the server. */
export function story(
  name: string,
  run: (world: World) => Promise<void>,
  modelName = "story",
  settings: Readonly<Record<string, string>> = {},
): void {
  test(name, async () => {
    const world = await makeWorld(modelName, settings);
    try {
      await run(world);
      await world.check();
    } catch (error) {
      if (error instanceof Error) error.message += `\n  pictures: ${await world.screenshot(name)}`;
      throw error;
    } finally {
      await world.end();
    }
  });
}

/** Console errors while the server is unreachable. */
export const WITHOUT_SERVER =
  /net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)|ERR_NETWORK|status of 503/;
