/**
 * Displays untrusted text that the user decides by: commands, paths, arguments, rules, names, titles, questions, and
 * our own sentences that contain such text. Hidden characters are written out. Each right-to-left run is isolated, so
 * that it cannot reorder the text between two runs.
 */
import { createContext, useContext } from "react";
import { exactPath, exactText, annotateWithCodes } from "./safeText";
import "./foreign-text.css";

/** Hebrew, Arabic and other right-to-left scripts, with their digits. */
const RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;

/** A hidden character as written out by `exactText`. */
const ESCAPED_CHARACTER = /(⟨U\+[0-9A-F]{4,6}(?: ×\d+)?⟩)/;

/** Splits a text into left-to-right runs (even indexes) and right-to-left runs (odd indexes). */
export function runsOf(text: string): readonly string[] {
  return text.split(RIGHT_TO_LEFT);
}

/** The characters of a call that can be mistaken for ASCII characters: each is displayed with its code point. */
export const Lookalikes = createContext("");

export function ForeignText({ text, isPath = false }: { text: string; isPath?: boolean }) {
  const displayed = isPath ? exactPath(text) : exactText(text);
  return annotateWithCodes(displayed, useContext(Lookalikes))
    .split(ESCAPED_CHARACTER)
    .map((part, index) =>
      index % 2 === 0 ? (
        <Runs key={index} text={part} />
      ) : (
        <span key={index} className="hidden-character">
          {part}
        </span>
      ),
    );
}

function Runs({ text }: { text: string }) {
  const runs = runsOf(text);
  return runs.length === 1 ? runs[0] : runs.map((run, index) => (index % 2 === 0 ? run : <bdi key={index}>{run}</bdi>));
}
