/** A unified diff, as the server makes it, in lines that know what they are. */
export interface DiffLine {
  readonly kind: "file" | "hunk" | "add" | "remove" | "same" | "note";
  /** Without the sign before it, for the lines that have one. */
  readonly text: string;
  readonly old: number | null;
  readonly new: number | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** A long diff keeps its head and its tail. */
const GAP = /^\[… [\d,]+ characters are not shown …\]$/;

/** Stands before the diff of a file that is not in UTF-8. */
const ENCODING = /^encoding: [-\w]+\n/;

/** Null for what is no diff: some tools show something else of what they would do. */
export function parseDiff(text: string): readonly DiffLine[] | null {
  const [first = "", second = ""] = text.replace(ENCODING, "").split("\n", 2);
  if (!first.startsWith("--- ") || !second.startsWith("+++ ")) return null;
  const place: Place = { old: 0, new: 0, oldLeft: 0, newLeft: 0, isLost: false, isTorn: false };
  return text.split("\n").map((line) => readLine(line, place));
}

/** `isLost`: behind a gap, where lines have no numbers; `isTorn`: the line behind it, of which the beginning is missing. */
interface Place {
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
  isLost: boolean;
  isTorn: boolean;
}

function readLine(line: string, place: Place): DiffLine {
  const plain = (kind: "file" | "hunk" | "note"): DiffLine => ({ kind, text: line, old: null, new: null });
  if (place.isTorn) {
    place.isTorn = false;
    return plain("note");
  }
  if (GAP.test(line)) {
    place.isLost = place.isTorn = true;
    return plain("note");
  }
  const hunk = HUNK.exec(line);
  const isInside = place.oldLeft > 0 || place.newLeft > 0;
  if (hunk !== null && (!isInside || place.isLost)) {
    const [, old, oldCount = "1", fresh, newCount = "1"] = hunk;
    Object.assign(place, {
      old: Number(old),
      new: Number(fresh),
      oldLeft: Number(oldCount),
      newLeft: Number(newCount),
      isLost: false,
    });
    return plain("hunk");
  }
  if (!isInside && !place.isLost) return plain(/^(---|\+\+\+) /.test(line) ? "file" : "note");
  return ofHunk(line, place) ?? plain("note");
}

function ofHunk(line: string, place: Place): DiffLine | null {
  const sign = line[0];
  if (sign !== "+" && sign !== "-" && sign !== " ") return null;
  const kind = sign === "+" ? "add" : sign === "-" ? "remove" : "same";
  const read: DiffLine = {
    kind,
    text: line.slice(1),
    old: kind === "add" || place.isLost ? null : place.old,
    new: kind === "remove" || place.isLost ? null : place.new,
  };
  if (kind !== "add") {
    place.old++;
    place.oldLeft--;
  }
  if (kind !== "remove") {
    place.new++;
    place.newLeft--;
  }
  return read;
}

export interface Counts {
  readonly added: number;
  readonly removed: number;
  /** There are more than can be counted here. */
  readonly isCut: boolean;
}

export function countsOf(lines: readonly DiffLine[]): Counts {
  return {
    added: lines.filter(({ kind }) => kind === "add").length,
    removed: lines.filter(({ kind }) => kind === "remove").length,
    isCut: lines.some(({ kind, text }) => kind === "note" && GAP.test(text)),
  };
}

/** "+3 −1". */
export function countWords({ added, removed, isCut }: Counts): string {
  return `+${added} −${removed}${isCut ? " …" : ""}`;
}

/** One row of the view in two columns: what was, what will be. What belongs to neither goes over both. */
export type SideBySide =
  { readonly left: DiffLine | null; readonly right: DiffLine | null } | { readonly both: DiffLine };

export function sidesOf(lines: readonly DiffLine[]): readonly SideBySide[] {
  const rows: SideBySide[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index];
    if (line === undefined) break;
    if (line.kind === "same") rows.push({ left: line, right: line });
    if (line.kind !== "add" && line.kind !== "remove") {
      if (line.kind !== "same") rows.push({ both: line });
      index++;
      continue;
    }
    const removed = runOf(lines, index, "remove");
    const added = runOf(lines, index + removed.length, "add");
    for (let row = 0; row < Math.max(removed.length, added.length); row++) {
      rows.push({ left: removed[row] ?? null, right: added[row] ?? null });
    }
    index += removed.length + added.length;
  }
  return rows;
}

function runOf(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): readonly DiffLine[] {
  let end = start;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(start, end);
}
