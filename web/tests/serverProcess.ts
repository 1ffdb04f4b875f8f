/** The real server as a subprocess: can be started, killed and restarted on the same port with the same data. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const TOKEN = "a-token-for-tests-only";
export const PYTHON = process.env.PILOTHOUSE_PYTHON ?? resolve(import.meta.dirname, "../../.venv/bin/python");

/** Creates a host whose model plays the script; without a script, the environment names the model. */
export async function makeHost(script: object | null, settings: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "pilothouse-web-"));
  const work = join(folder, "work");
  mkdirSync(work);
  const path = join(folder, "script.json");
  writeFileSync(path, JSON.stringify(script));
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const code = "import sys; from pilothouse.cli import main; sys.exit(main())";
  const data = ["--data-dir", join(folder, "data")];
  const words = ["serve", "--no-open", "--port", String(port), "--root", work, ...data];
  const model = script === null ? {} : { PILOTHOUSE_MODEL: `scripted:${path}` };
  const env = {
    ...process.env,
    PILOTHOUSE_TOKEN: TOKEN,
    XDG_CONFIG_HOME: join(folder, "config"),
    ...model,
    ...settings,
  };
  let child: ChildProcess | null = null;
  return {
    base,
    work,
    token: TOKEN,
    /** A fresh sign-in link. */
    link: () =>
      execFileSync(PYTHON, ["-c", code, "open", "--no-open", ...data], { env, timeout: 60_000 })
        .toString()
        .trim(),
    headers: { authorization: `Bearer ${TOKEN}` },
    async start() {
      child = spawn(PYTHON, ["-c", code, ...words], { env, cwd: work, stdio: ["ignore", "pipe", "ignore"] });
      const failed = once(child, "exit").then(() => Promise.reject(new Error(`${PYTHON} serves nothing`)));
      // The server prints its address.
      await Promise.race([once(child.stdout!, "data"), failed]);
      failed.catch(() => {});
    },
    /** Simulates a full disk, or ends that. */
    setWritable(isWritable: boolean) {
      const size = isWritable ? "resource.RLIM_INFINITY" : "0";
      const limit = `import resource; resource.prlimit(${child?.pid}, resource.RLIMIT_FSIZE, (${size}, resource.RLIM_INFINITY))`;
      execFileSync(PYTHON, ["-c", limit], { timeout: 10_000 });
    },
    async end(signal: "SIGKILL" | "SIGTERM") {
      const ended = child?.exitCode === null ? once(child, "exit") : null;
      child?.kill(signal);
      await ended;
      child = null;
    },
    clear: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** A port outside of the ephemeral range, so that it is still free when the server restarts. */
async function freePort(): Promise<number> {
  for (let port = 10_000 + ((process.pid * 7) % 20_000); ; port++) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (isFree) await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
