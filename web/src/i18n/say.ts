/** Words for codes and states, in the person's language. The words themselves are the server's. */
import type { Reason } from "../api/schema";
import type { State } from "../api/types";
import en from "./words.en.json";
import zh from "./words.zh.json";

export type Language = "en" | "zh";
interface Words {
  codes: Record<string, string>;
  states: Record<string, string>;
  modes: Record<string, string>;
}

const WORDS: Record<Language, Words> = { en, zh };
/** The parameters that name a mode. */
const MODES = ["mode", "hint"];

export function say(reason: Reason, language: Language): string {
  const { codes, modes } = WORDS[language];
  // A mode goes by the name that its selector shows; one of the person's own has none here.
  const titled = ([name, value]: [string, unknown]) => [
    name,
    MODES.includes(name) ? (modes[String(value)] ?? value) : value,
  ];
  return filled(codes[reason.code] ?? reason.code, Object.fromEntries(Object.entries(reason.params ?? {}).map(titled)));
}

export function sayState(state: State, language: Language): string {
  return filled(WORDS[language].states[state.type] ?? state.type, state as unknown as Record<string, unknown>);
}

/** A parameter that is missing shows as its name, never as an error. */
export function filled(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!Object.hasOwn(params, name)) return `(${name})`;
    const value = params[name];
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}
