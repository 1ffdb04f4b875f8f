/** Parses a unified diff from the server into lines with their kind and line numbers. */
export interface DiffLine {
  readonly kind: "file" | "hunk" | "add" | "remove" | "same" | "note";
  /** The text without the leading sign of added, removed and unchanged lines. */
  readonly text: string;
  readonly old: number | null;
  readonly new: number | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** The server shortens a long diff in the middle and inserts this line. */
const TRUNCATION_MARK = /^\[… [\d,]+ characters are not shown …\]$/;

/** The line before the diff of a file that is not encoded in UTF-8. */
const ENCODING = /^encoding: [-\w]+\n/;

/** Null if the text is not a diff: some tools preview something else. */
export function parseDiff(text: string): readonly DiffLine[] | null {
  const [first = "", second = ""] = text.replace(ENCODING, "").split("\n", 2);
  if (!first.startsWith("--- ") || !second.startsWith("+++ ")) return null;
  const position: HunkPosition = { old: 0, new: 0, oldLeft: 0, newLeft: 0, isBehindGap: false, isAfterGap: false };
  return text.split("\n").map((line) => parseLine(line, position));
}

/** The state of the parser. */
interface HunkPosition {
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
  /** Whether line numbers are unknown because a part was cut. */
  isBehindGap: boolean;
  /** Whether this is the first line after a cut, whose beginning is missing. */
  isAfterGap: boolean;
}

function parseLine(line: string, position: HunkPosition): DiffLine {
  const plain = (kind: "file" | "hunk" | "note"): DiffLine => ({ kind, text: line, old: null, new: null });
  if (position.isAfterGap) {
    position.isAfterGap = false;
    return plain("note");
  }
  if (TRUNCATION_MARK.test(line)) {
    position.isBehindGap = position.isAfterGap = true;
    return plain("note");
  }
  const hunk = HUNK.exec(line);
  const isInside = position.oldLeft > 0 || position.newLeft > 0;
  if (hunk !== null && (!isInside || position.isBehindGap)) {
    const [, old, oldCount = "1", newStart, newCount = "1"] = hunk;
    Object.assign(position, {
      old: Number(old),
      new: Number(newStart),
      oldLeft: Number(oldCount),
      newLeft: Number(newCount),
      isBehindGap: false,
    });
    return plain("hunk");
  }
  if (!isInside && !position.isBehindGap) return plain(/^(---|\+\+\+) /.test(line) ? "file" : "note");
  return parseHunkLine(line, position) ?? plain("note");
}

function parseHunkLine(line: string, position: HunkPosition): DiffLine | null {
  const sign = line[0];
  if (sign !== "+" && sign !== "-" && sign !== " ") return null;
  const kind = sign === "+" ? "add" : sign === "-" ? "remove" : "same";
  const diffLine: DiffLine = {
    kind,
    text: line.slice(1),
    old: kind === "add" || position.isBehindGap ? null : position.old,
    new: kind === "remove" || position.isBehindGap ? null : position.new,
  };
  if (kind !== "add") {
    position.old++;
    position.oldLeft--;
  }
  if (kind !== "remove") {
    position.new++;
    position.newLeft--;
  }
  return diffLine;
}

interface LineCounts {
  readonly added: number;
  readonly removed: number;
  /** Whether the diff was cut, so that there are more changes than counted. */
  readonly isCut: boolean;
}

export function countLines(lines: readonly DiffLine[]): LineCounts {
  return {
    added: lines.filter(({ kind }) => kind === "add").length,
    removed: lines.filter(({ kind }) => kind === "remove").length,
    isCut: lines.some(({ kind, text }) => kind === "note" && TRUNCATION_MARK.test(text)),
  };
}

/** Formats the counts as "+3 −1". */
export function lineCountText({ added, removed, isCut }: LineCounts): string {
  return `+${added} −${removed}${isCut ? " …" : ""}`;
}

/** A row of the two-column view. Lines that belong to neither side span both columns. */
type SideBySide = { readonly left: DiffLine | null; readonly right: DiffLine | null } | { readonly both: DiffLine };

export function sideBySide(lines: readonly DiffLine[]): readonly SideBySide[] {
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
    const removed = consecutiveLines(lines, index, "remove");
    const added = consecutiveLines(lines, index + removed.length, "add");
    for (let row = 0; row < Math.max(removed.length, added.length); row++) {
      rows.push({ left: removed[row] ?? null, right: added[row] ?? null });
    }
    index += removed.length + added.length;
  }
  return rows;
}

function consecutiveLines(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): readonly DiffLine[] {
  let end = start;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(start, end);
}
