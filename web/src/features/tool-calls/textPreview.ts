/** Long texts: what is shown of them first, and the pieces of which only those on screen are drawn. */
export const PREVIEW_LINES = 12;
export const PREVIEW_CHARACTERS = 2_000;
/** More lines than this are drawn only where they are seen. */
export const MAX_UNVIRTUALIZED_LINES = 400;
const MAX_PIECE_CHARACTERS = 2_000;

export interface Preview {
  /** `head + rest` is the whole text. */
  readonly head: string;
  readonly rest: string;
  readonly lines: number;
  readonly bytes: number;
}

export function previewOf(text: string): Preview {
  const end = Math.min(endOfLines(text, PREVIEW_LINES), cutPosition(text, PREVIEW_CHARACTERS));
  return {
    head: text.slice(0, end),
    rest: text.slice(end),
    lines: linesIn(text),
    bytes: new TextEncoder().encode(text).length,
  };
}

/** Where so many lines end, without the line end behind them; the end of the text where there are not more. */
function endOfLines(text: string, count: number): number {
  let end = -1;
  for (let line = 0; line < count; line++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text.length;
  }
  return end === text.length - 1 ? text.length : end;
}

/** At most so many, and never in the middle of a character. */
function cutPosition(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const last = text.charCodeAt(max - 1);
  return last >= 0xd800 && last < 0xdc00 ? max - 1 : max;
}

/** As a person counts: a line end at the very end begins no line. */
export function linesIn(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

export interface LinePiece {
  readonly text: string;
  /** The number of its line. */
  readonly line: number;
  readonly beginsLine: boolean;
}

/** The lines of a text; one that is too long for a screen in several pieces. */
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

/** "118 kB", as files are measured. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
