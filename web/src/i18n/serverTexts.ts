/** Texts of codes and states in the user's language. The catalogue of these texts is generated from the server. */
import type { Reason } from "../api/schema";
import type { State } from "../api/types";
import { exactText } from "../ui/safeText";
import { LANGUAGES, type Language } from "./languages";

export type { Language } from "./languages";
/** Names of parameters whose value is a mode. */
const MODE_PARAMS = ["mode", "hint"];
/** Names of parameters whose value is the status of a tool call or the decision about a call. */
const STATUS_PARAMS = ["status", "verdict"];

export function translateReason(reason: Reason, language: Language): string {
  const { codes, modes } = LANGUAGES[language].server;
  const statuses: Readonly<Record<string, string>> = LANGUAGES[language].texts.callStatus;
  const exitStatus = reason.params?.exit_status;
  const translateParam = ([name, value]: [string, unknown]) => {
    // Show the mode's title. Custom modes have no title in the catalogue and keep their name.
    if (MODE_PARAMS.includes(name)) return [name, modes[String(value)] ?? value];
    // A command that ran and failed has the status "executed", which reads as done.
    if (name === "status" && typeof exitStatus === "number" && exitStatus !== 0)
      return [name, fillParams(LANGUAGES[language].texts.callOutcome.exited, { n: exitStatus })];
    if (STATUS_PARAMS.includes(name) && typeof value === "string") return [name, statuses[value] ?? value];
    return [
      name,
      areReasons(value)
        ? value
            .map((each) => translateReason(each, language))
            .join(LANGUAGES[language].texts.punctuation.betweenSentences)
        : value,
    ];
  };
  return fillParams(
    codes[reason.code] ?? reason.code,
    Object.fromEntries(Object.entries(reason.params ?? {}).map(translateParam)),
  );
}

/** Whether a stored stage is a code of the runtime, which has a text in the catalogue. */
export function isCode(text: string): text is Reason["code"] {
  return Object.hasOwn(LANGUAGES.en.server.codes, text);
}

function areReasons(value: unknown): value is Reason[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => isReason(each));
}

function isReason(value: unknown): value is Reason {
  return typeof value === "object" && value !== null && "code" in value && isCode(String(value.code));
}

export function translateState(state: State, language: Language): string {
  return fillParams(
    LANGUAGES[language].server.states[state.type] ?? state.type,
    state as unknown as Record<string, unknown>,
  );
}

/**
 * Fills in a server text. A missing parameter is shown as its name. Parameters can come from models and tools, so their
 * hidden characters are written out.
 */
export function fillParams(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!Object.hasOwn(params, name)) return `(${name})`;
    const value = params[name];
    return exactText(typeof value === "object" ? JSON.stringify(value) : String(value));
  });
}
