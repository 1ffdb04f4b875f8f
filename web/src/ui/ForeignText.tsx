/**
 * Every text that others wrote and a person decides by: commands, paths, arguments, rules, names, titles, questions,
 * and sentences of ours with such a text in them. Nothing in it is hidden, and each run of letters that are read from
 * right to left stands by itself: else it would turn around what is between two of them.
 */
import { createContext, useContext } from "react";
import { exactPath, exactText, annotateWithCodes } from "./safeText";
import "./foreign-text.css";

/** Hebrew, Arabic and what else is written so, with the digits among them. */
const RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;

/** A hidden character as `exactText` writes it. */
const WRITTEN_OUT = /(⟨U\+[0-9A-F]{4,6}(?: ×\d+)?⟩)/;

/** What is read from left to right and from right to left, in turns; the first is the former. */
export function runsOf(text: string): readonly string[] {
  return text.split(RIGHT_TO_LEFT);
}

/** The characters of a call that can be taken for ASCII ones: each is shown with its code. */
export const Lookalikes = createContext("");

export function ForeignText({ text, isPath = false }: { text: string; isPath?: boolean }) {
  const shown = isPath ? exactPath(text) : exactText(text);
  return annotateWithCodes(shown, useContext(Lookalikes))
    .split(WRITTEN_OUT)
    .map((part, place) =>
      place % 2 === 0 ? (
        <Runs key={place} text={part} />
      ) : (
        <span key={place} className="hidden-sign">
          {part}
        </span>
      ),
    );
}

function Runs({ text }: { text: string }) {
  const runs = runsOf(text);
  return runs.length === 1 ? runs[0] : runs.map((run, place) => (place % 2 === 0 ? run : <bdi key={place}>{run}</bdi>));
}
