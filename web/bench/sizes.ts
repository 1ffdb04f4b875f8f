/** Sizes of the built web client. */
import { readFileSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import type { Figure } from "./main";

const BUILD_FOLDER = resolve(process.cwd(), "../src/pilothouse/server/web");

function gzippedBytes(path: string): number {
  return gzipSync(readFileSync(path), { level: 9 }).length;
}

/** The scripts that the document loads first, with their static imports. */
function initialScripts(): ReadonlySet<string> {
  const scripts = new Set<string>();
  const addScript = (name: string) => {
    if (scripts.has(name)) return;
    scripts.add(name);
    const text = readFileSync(join(BUILD_FOLDER, "assets", name), "utf8");
    for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      if (imported !== undefined) addScript(imported);
  };
  const index = readFileSync(join(BUILD_FOLDER, "index.html"), "utf8");
  for (const [, name] of index.matchAll(/(?:src|href)="[^"]*\/([^"/]+\.js)"/g)) if (name !== undefined) addScript(name);
  return scripts;
}

export async function sizes(): Promise<readonly Figure[]> {
  const files = readdirSync(BUILD_FOLDER, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const paths = files
    .map((each) => join(each.parentPath, each.name))
    .filter((path) => !path.endsWith(".gz") && !path.endsWith(".br"));
  const all = (select: (path: string) => boolean) =>
    paths.filter(select).reduce((bytes, path) => bytes + gzippedBytes(path), 0);
  const first = initialScripts();
  return [
    { name: "eager JavaScript, packed", unit: "kB", ours: all((path) => first.has(basename(path))) / 1000 },
    { name: "all styles, packed", unit: "kB", ours: all((path) => path.endsWith(".css")) / 1000 },
    { name: "added to the wheel", unit: "MB", ours: all(() => true) / 1e6 },
  ];
}
