/** An MCP server for tests, whose tools can change. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PYTHON } from "./serverProcess";

const PROGRAM = resolve(import.meta.dirname, "../../tests/support/mcp_tools_program.py");

interface Host {
  readonly base: string;
  readonly work: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds the MCP server `docs` to the host's configuration. Call it before the host starts. */
export function addMcpServer({ work }: Host, tools: readonly object[]): void {
  const config = join(work, "../config/pilothouse");
  mkdirSync(config, { recursive: true });
  const docs = { command: PYTHON, args: [PROGRAM, docsFolder(work)] };
  writeFileSync(join(config, "mcp_servers.json"), JSON.stringify({ mcpServers: { docs } }));
  setTools(work, tools);
}

/** Replaces the tools of the MCP server, and lets the host read their definitions again. */
export async function changeTools({ base, work, headers }: Host, tools: readonly object[]): Promise<void> {
  await whenReady(base, headers);
  setTools(work, tools);
  await fetch(`${base}/api/mcp/servers/docs/reconnect`, { method: "POST", headers });
  await whenReady(base, headers);
}

const docsFolder = (work: string) => join(work, "../docs");

function setTools(work: string, tools: readonly object[]): void {
  mkdirSync(docsFolder(work), { recursive: true });
  writeFileSync(join(docsFolder(work), "tools.json"), JSON.stringify(tools));
}

async function whenReady(base: string, headers: Host["headers"]): Promise<void> {
  for (;;) {
    const { items } = await (await fetch(`${base}/api/mcp/servers`, { headers })).json();
    if (items[0]?.status === "ready") return;
    await new Promise((done) => setTimeout(done, 50));
  }
}
