/** Sizes of the built web client. */
import { readFileSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import type { Figure } from "./main";

const WEB_FOLDER = resolve(process.cwd(), "../src/pilothouse/server/web");

function packed(path: string): number {
  return gzipSync(readFileSync(path), { level: 9 }).length;
}

/** The scripts that the document loads first, with their static imports. */
function eager(): ReadonlySet<string> {
  const found = new Set<string>();
  const take = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    const text = readFileSync(join(WEB_FOLDER, "assets", name), "utf8");
    for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      if (imported !== undefined) take(imported);
  };
  const index = readFileSync(join(WEB_FOLDER, "index.html"), "utf8");
  for (const [, name] of index.matchAll(/(?:src|href)="[^"]*\/([^"/]+\.js)"/g)) if (name !== undefined) take(name);
  return found;
}

export async function sizes(): Promise<readonly Figure[]> {
  const files = readdirSync(WEB_FOLDER, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const paths = files
    .map((each) => join(each.parentPath, each.name))
    .filter((path) => !path.endsWith(".gz") && !path.endsWith(".br"));
  const all = (select: (path: string) => boolean) =>
    paths.filter(select).reduce((bytes, path) => bytes + packed(path), 0);
  const first = eager();
  return [
    { name: "eager JavaScript, packed", unit: "kB", ours: all((path) => first.has(basename(path))) / 1000 },
    { name: "all styles, packed", unit: "kB", ours: all((path) => path.endsWith(".css")) / 1000 },
    { name: "added to the wheel", unit: "MB", ours: all(() => true) / 1e6 },
  ];
}
