/** The web client through nginx, with TLS and a path prefix: the example of `deploy/`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { PYTHON } from "../tests/serverProcess";
import { Screen } from "./screen";
import { type World, story } from "./story";
import { calls, write } from "./toolCalls";

const ROOT = resolve(import.meta.dirname, "../..");
const PREFIX = "/pilothouse";

/** Starts the server again with a path prefix, and runs nginx in front of it while `work` runs with its origin. */
async function behindProxy({ host }: World, work: (origin: string) => Promise<void>): Promise<void> {
  await host.end("SIGTERM");
  const folder = join(host.work, "../config/pilothouse");
  mkdirSync(folder, { recursive: true });
  const settings = `[server]\nbase_path = "${PREFIX}"\ntrusted_proxies = ["127.0.0.1"]\n`;
  writeFileSync(join(folder, "config.toml"), settings);
  await host.start();
  const port = new URL(host.base).port;
  const nginx = spawn(PYTHON, ["-m", "tests.deploy.nginx_proxy", port], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(nginx, "exit");
  try {
    const failed = ended.then(() => Promise.reject(new Error("nginx has ended")));
    const [line] = await Promise.race([once(nginx.stdout, "data"), failed]);
    failed.catch(() => {});
    await work(String(line).trim());
  } finally {
    nginx.stdin.end();
    await ended;
  }
}

story(
  "behind a proxy with TLS and a path prefix, a person signs in, reads an answer as it is written, and approves a call",
  async (world) => {
    const { model } = world;
    await behindProxy(world, async (proxy) => {
      world.allow(/status of 401/); // the sign-in form
      const page = await world.visit({ proxy });
      await page.goto(`${proxy}${PREFIX}`);
      await page.getByLabel("Access token").fill(world.host.token);
      await page.getByRole("button", { name: "Sign in" }).click();
      const screen = new Screen(page, "en", false);
      await screen.mode.waitFor();
      expect(new URL(page.url()).pathname).toBe(`${PREFIX}/`);
      expect(await page.context().cookies()).toMatchObject([
        { path: `${PREFIX}/`, secure: true, httpOnly: true, sameSite: "Strict" },
      ]);

      model.answers(
        { deltas: ["Land in sight:\n\n```js\n", "const land = 1;\n```\n", "Done looking."], hold: 2 },
        calls(write("log.txt", "land\n")),
        "Written.",
      );
      await screen.sendMessage("What do you see?");
      await model.waitForHold();
      await screen.answers.getByText("Land in sight").waitFor();
      await screen.answers.locator(".md-code code span").last().waitFor(); // the worker that colours code has loaded
      model.release();
      await screen.answers.getByText("Done looking.").waitFor();
      await screen.waitUntilIdle();

      await screen.chooseMode("supervised");
      await screen.sendMessage("Write it down.");
      await screen.dock.getByText("Write a file").waitFor();
      await screen.decision("approve").click();
      await screen.waitForText("Written.");
      expect(await world.file("log.txt")).toBe("land\n");
      await screen.waitUntilIdle();

      await page.reload();
      await screen.waitForText("Written.");
      await page.locator("form.composer input[type=file]").setInputFiles(join(world.host.work, "log.txt"));
      await page.getByRole("button", { name: "Remove log.txt" }).waitFor();
      await page.getByRole("button", { name: "Conversation options" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
      expect(await readFile(await (await download).path(), "utf8")).toContain("Land in sight");
      await page.close();
    });
  },
);
