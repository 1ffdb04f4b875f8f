/** The displayed part of a code block, with hidden characters written out. */
import { visibleText } from "../../../ui/safeText";

const MAX_PREVIEW_LINES = 400;
const MAX_PREVIEW_CHARACTERS = 40_000;
/** Lines without these characters are shown as they are: checking each letter would be slow. */
const UNUSUAL = /[^\n\t -~]/;

interface CodePreview {
  readonly text: string;
  readonly lines: number;
  readonly isCut: boolean;
}

export function codePreview(code: string, isWhole: boolean): CodePreview {
  const lines = countLines(code);
  const isCut = !isWhole && (lines > MAX_PREVIEW_LINES || code.length > MAX_PREVIEW_CHARACTERS);
  const text = isCut ? firstLines(code) : code;
  return { text: UNUSUAL.test(text) ? text.split("\n").map(visibleLine).join("\n") : text, lines, isCut };
}

function visibleLine(line: string): string {
  return UNUSUAL.test(line) ? visibleText(line) : line;
}

function firstLines(code: string): string {
  let end = -1;
  for (let line = 0; line < MAX_PREVIEW_LINES; line++) {
    end = code.indexOf("\n", end + 1);
    if (end === -1) break;
  }
  return code.slice(0, Math.min(end === -1 ? code.length : end, MAX_PREVIEW_CHARACTERS));
}

function countLines(code: string): number {
  let lines = 1;
  for (let offset = code.indexOf("\n"); offset !== -1; offset = code.indexOf("\n", offset + 1)) lines++;
  return lines;
}
