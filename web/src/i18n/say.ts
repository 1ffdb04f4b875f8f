/** Words for codes and states, in the person's language. The words themselves are the server's. */
import type { Reason } from "../api/schema";
import type { State } from "../api/types";
import { exactText } from "../ui/safeText";
import { LANGUAGES, type Language } from "./languages";

export type { Language } from "./languages";
/** The parameters that name a mode. */
const MODES = ["mode", "hint"];
/** The parameters that name the status of a tool call, or the decision about one. */
const STATUSES = ["status", "verdict"];

export function say(reason: Reason, language: Language): string {
  const { codes, modes } = LANGUAGES[language].server;
  const statuses: Readonly<Record<string, string>> = LANGUAGES[language].texts.callStatus;
  const shown = ([name, value]: [string, unknown]) => {
    // A mode goes by the name that its selector shows; one of the person's own has none here.
    if (MODES.includes(name)) return [name, modes[String(value)] ?? value];
    if (STATUSES.includes(name) && typeof value === "string") return [name, statuses[value] ?? value];
    return [
      name,
      areReasons(value)
        ? value.map((each) => say(each, language)).join(LANGUAGES[language].texts.punctuation.betweenSentences)
        : value,
    ];
  };
  return filled(codes[reason.code] ?? reason.code, Object.fromEntries(Object.entries(reason.params ?? {}).map(shown)));
}

/** A stored remark whose stage is a code has words of its own. */
export function isCode(text: string): text is Reason["code"] {
  return Object.hasOwn(LANGUAGES.en.server.codes, text);
}

function areReasons(value: unknown): value is Reason[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => isReason(each));
}

function isReason(value: unknown): value is Reason {
  return typeof value === "object" && value !== null && "code" in value && isCode(String(value.code));
}

export function sayState(state: State, language: Language): string {
  return filled(
    LANGUAGES[language].server.states[state.type] ?? state.type,
    state as unknown as Record<string, unknown>,
  );
}

/**
 * A parameter that is missing shows as its name, never as an error. Most parameters come from others: no character of
 * them is hidden.
 */
export function filled(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!Object.hasOwn(params, name)) return `(${name})`;
    const value = params[name];
    return exactText(typeof value === "object" ? JSON.stringify(value) : String(value));
  });
}
