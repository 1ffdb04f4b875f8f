/** Previews of long texts, and their division into rows for virtualized lists. */
export const MAX_PREVIEW_LINES = 12;
export const MAX_PREVIEW_CHARACTERS = 2_000;
/** Longer lists are virtualized. */
export const MAX_UNVIRTUALIZED_LINES = 400;
const MAX_PIECE_CHARACTERS = 2_000;

interface Preview {
  /** `head + rest` is the whole text. */
  readonly head: string;
  readonly rest: string;
  readonly lines: number;
  readonly bytes: number;
}

export function previewOf(text: string): Preview {
  const end = Math.min(endOfLines(text, MAX_PREVIEW_LINES), cutPosition(text, MAX_PREVIEW_CHARACTERS));
  return {
    head: text.slice(0, end),
    rest: text.slice(end),
    lines: linesIn(text),
    bytes: new TextEncoder().encode(text).length,
  };
}

/**
 * The offset at which the given number of lines ends, without the last line end; the length of a text with fewer lines.
 */
function endOfLines(text: string, count: number): number {
  let end = -1;
  for (let line = 0; line < count; line++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text.length;
  }
  return end === text.length - 1 ? text.length : end;
}

/** The offset at which to cut a text, never inside a surrogate pair. */
function cutPosition(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const last = text.charCodeAt(max - 1);
  return last >= 0xd800 && last < 0xdc00 ? max - 1 : max;
}

/** The number of lines; a final line end does not start another line. */
export function linesIn(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

interface LinePiece {
  readonly text: string;
  /** The number of the line that contains this piece. */
  readonly line: number;
  readonly beginsLine: boolean;
}

/** The lines of a text; a very long line is split into pieces. */
export function linePieces(text: string): readonly LinePiece[] {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines.flatMap((line, index) => {
    const pieces: LinePiece[] = [];
    for (let start = 0; start === 0 || start < line.length;) {
      const end = start + cutPosition(line.slice(start, start + MAX_PIECE_CHARACTERS + 1), MAX_PIECE_CHARACTERS);
      pieces.push({ text: line.slice(start, end), line: index + 1, beginsLine: start === 0 });
      start = Math.max(end, start + 1);
    }
    return pieces;
  });
}

/** Formats a size with decimal units: "118 kB". */
export function formatTextSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
