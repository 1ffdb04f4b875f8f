/** Describes calls in words: title, summary, risks, status. */
import type { CallView } from "../../api/schema";
import type { Language } from "../../i18n/serverTexts";
import { hasText, textsIn } from "../../i18n/texts";
import { exactPath, exactText, toolName } from "../../ui/safeText";
import { parseDiff } from "../diff/unifiedDiff";

/** The title of a tool; tools that are not built in keep their own name. */
export function titleOf(call: Pick<CallView, "tool" | "display_name">, language: Language): string {
  return hasText("toolTitles", call.tool) ? textsIn(language, "toolTitles")(call.tool) : toolName(call);
}

/** The most descriptive arguments, in order of preference. */
const SUMMARY_ARGUMENTS = ["command", "path", "file_path", "pattern", "task", "url", "query", "name"];
const PATH_ARGUMENTS = new Set(["path", "file_path", "cwd"]);
const MAX_SUMMARY_CHARACTERS = 200;
/** The beginning of a value from which its summary is made. */
const MAX_SUMMARIZED_CHARACTERS = 4 * MAX_SUMMARY_CHARACTERS;

/** The summary of a call on one line: a path within the workspace, a command, a pattern. */
export function summaryOf(call: Pick<CallView, "arguments">, workspace: string | null): string {
  const args = argumentsOf(call);
  const texts = Object.entries(args).filter(
    (each): each is [string, string] => typeof each[1] === "string" && each[1] !== "",
  );
  const name = SUMMARY_ARGUMENTS.find((each) => texts.some(([key]) => key === each)) ?? texts[0]?.[0];
  const value = texts.find(([key]) => key === name)?.[1];
  if (name === undefined || value === undefined) return "";
  return toOneLine(
    PATH_ARGUMENTS.has(name)
      ? exactPath(relativePath(value, workspace).slice(0, MAX_SUMMARIZED_CHARACTERS + 1))
      : value,
  );
}

/** Shortens a text to one line, with blanks collapsed: the summary only identifies the call. */
function toOneLine(text: string): string {
  const line = exactText(text.slice(0, MAX_SUMMARIZED_CHARACTERS)).replace(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length <= MAX_SUMMARY_CHARACTERS && text.length <= MAX_SUMMARIZED_CHARACTERS
    ? line
    : `${letters.slice(0, MAX_SUMMARY_CHARACTERS - 1).join("")}…`;
}

export function relativePath(path: string, workspace: string | null): string {
  if (workspace === null || path === workspace) return path;
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

export function isPath(name: string): boolean {
  return PATH_ARGUMENTS.has(name);
}

/** The arguments by name. Arguments that are not an object are shown under the name `arguments`. */
export function argumentsOf(call: Pick<CallView, "arguments">): Readonly<Record<string, unknown>> {
  const args = call.arguments;
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return { ...args };
  return { arguments: args };
}

/**
 * The main content of a call: a diff, an argument such as a command, or a text; null if there are only arguments. Only
 * the server says what a diff is about: the form of a text says nothing about its meaning.
 */
type CallContent =
  | { readonly kind: "diff"; readonly of: "file" | "definition" | "unknown"; readonly text: string }
  | { readonly kind: "argument"; readonly name: string; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | null;

type PreviewedCall = Pick<CallView, "arguments" | "dangerous" | "preview" | "preview_kind" | "shown_arguments">;

const DIFF_OF = { file_change: "file", definition_change: "definition", text: "unknown" } as const;

export function contentOf(call: PreviewedCall): CallContent {
  const preview = (call.dangerous ?? []).includes("long numbers") ? call.preview : previewBesidesArguments(call);
  const kind = call.preview_kind ?? "text";
  if (preview == null || (preview === "" && kind !== "file_change")) return null;
  const argument = Object.entries(argumentsOf(call)).find(([, value]) => value === preview);
  if (argument !== undefined && kind === "text") return { kind: "argument", name: argument[0], text: preview };
  if (preview === "" || parseDiff(preview) !== null) return { kind: "diff", of: DIFF_OF[kind], text: preview };
  return { kind: "text", text: preview };
}

/** The arguments to list beside the content: all except those that the content shows in full. */
export function argumentsBeside(call: PreviewedCall, content: CallContent): readonly (readonly [string, unknown])[] {
  const shown = new Set(content?.kind === "argument" ? [content.name] : argumentsInFileChange(call));
  return Object.entries(argumentsOf(call)).filter(([name]) => !shown.has(name));
}

/** The arguments that, according to the server, the diff of a file shows in full. */
export function argumentsInFileChange(call: PreviewedCall): readonly string[] {
  const isShown = call.preview_kind === "file_change" && !(call.dangerous ?? []).includes("not shown whole");
  return isShown ? (call.shown_arguments ?? []) : [];
}

/**
 * The part of the preview that does not repeat the arguments. MCP servers preview the arguments as JSON, possibly after
 * another text; the arguments are listed separately. (Long numbers are exact only in the server's text.)
 */
function previewBesidesArguments({ arguments: args, preview }: Pick<CallView, "arguments" | "preview">): string | null {
  if (preview == null) return null;
  const start = preview.startsWith("{") ? 0 : preview.lastIndexOf("\n\n{") + 2;
  if (start === 1 || !isJsonOf(preview.slice(start), args)) return preview;
  return start === 0 ? null : preview.slice(0, start - 2);
}

function isJsonOf(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

export function risksOf(call: Pick<CallView, "dangerous">, language: Language): readonly string[] {
  const t = textsIn(language, "risks");
  return (call.dangerous ?? []).map((mark) =>
    hasText("risks", mark) ? t(mark) : textsIn(language, "ownRisk")("marked", { mark }),
  );
}

export function isDangerous(call: Pick<CallView, "dangerous">): boolean {
  return (call.dangerous ?? []).length > 0;
}

export function statusText(status: CallView["status"], language: Language): string {
  return textsIn(language, "callStatus")(status);
}

/** Formats a duration; empty for an invalid value. */
export function durationText(milliseconds: number, language: Language): string {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return "";
  const t = textsIn(language, "durations");
  if (milliseconds < 1_000) return t("milliseconds", { n: Math.round(milliseconds) });
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return t("seconds", { n: seconds < 10 ? seconds.toFixed(1) : Math.round(seconds) });
  return t("minutes", { m: Math.floor(seconds / 60), s: Math.round(seconds % 60) });
}
