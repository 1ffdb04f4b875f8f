/** Calls in words: what a tool does, what a call is about, what is risky in it, what became of it. */
import type { CallShape } from "../../api/schema";
import type { Language } from "../../i18n/say";
import { type Words, sayWord } from "../../i18n/words";
import { exactText, toolName } from "../../ui/names";
import { parseDiff } from "./diff";

const TITLES: Words = {
  execute: ["Run a command", "运行命令"],
  write_file: ["Write a file", "写入文件"],
  edit_file: ["Edit a file", "编辑文件"],
  notebook_edit: ["Edit a notebook", "编辑笔记本"],
  read_file: ["Read a file", "读取文件"],
  list_directory: ["List a folder", "列出文件夹"],
  glob: ["Find files", "查找文件"],
  grep: ["Search in files", "搜索文件内容"],
  undo: ["Undo the last change", "撤销上次更改"],
  delegate: ["Send a sub-agent", "派出子智能体"],
  ask_user: ["Ask you", "向你提问"],
};

/** What a tool does, for a person; those that are not ours under their own name. */
export function titleOf(call: Pick<CallShape, "tool" | "display_name">, language: Language): string {
  const title = Object.hasOwn(TITLES, call.tool) ? TITLES[call.tool] : undefined;
  return title === undefined ? toolName(call) : sayWord(title, language);
}

/** The arguments that say the most, first. */
const ESSENCE = ["command", "path", "file_path", "pattern", "task", "url", "query", "name"];
const PATHS = new Set(["path", "file_path", "cwd"]);
const AT_MOST = 200;

/** What a call is about, on one line: a path within the workspace, a command, a pattern. */
export function essenceOf(call: Pick<CallShape, "arguments">, workspace: string | null): string {
  const given = argumentsOf(call);
  const texts = Object.entries(given).filter(
    (each): each is [string, string] => typeof each[1] === "string" && each[1] !== "",
  );
  const name = ESSENCE.find((each) => texts.some(([key]) => key === each)) ?? texts[0]?.[0];
  const value = texts.find(([key]) => key === name)?.[1];
  if (name === undefined || value === undefined) return "";
  return oneLine(PATHS.has(name) ? withinWorkspace(value, workspace) : value);
}

/** On one line, with long blanks made short: here it only says which call is meant. */
function oneLine(text: string): string {
  const line = exactText(text.slice(0, 4 * AT_MOST))
    .replace(/\s+/g, " ")
    .trim();
  const letters = [...line];
  return letters.length <= AT_MOST && text.length <= 4 * AT_MOST ? line : `${letters.slice(0, AT_MOST - 1).join("")}…`;
}

export function withinWorkspace(path: string, workspace: string | null): string {
  if (workspace === null || path === workspace) return path;
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

export function isPath(name: string): boolean {
  return PATHS.has(name);
}

/** The arguments by name. What a model sent that is no object stands under one name of its own. */
export function argumentsOf(call: Pick<CallShape, "arguments">): Readonly<Record<string, unknown>> {
  const given = call.arguments;
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return { ...given };
  return { arguments: given };
}

/** What the call is at its heart: a change of a file, a command, a text of its own; or nothing but its arguments. */
export type Heart =
  | { readonly kind: "diff"; readonly text: string }
  | { readonly kind: "argument"; readonly name: string; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | null;

export function heartOf(call: Pick<CallShape, "arguments" | "dangerous" | "preview" | "tool">): Heart {
  const preview = (call.dangerous ?? []).includes("long numbers") ? call.preview : withoutArguments(call);
  if (preview == null) return null;
  const named = Object.entries(argumentsOf(call)).find(([, value]) => value === preview);
  if (named !== undefined && preview !== "") return { kind: "argument", name: named[0], text: preview };
  if (preview === "" || parseDiff(preview) !== null) return { kind: "diff", text: preview };
  return { kind: "text", text: preview };
}

/**
 * What is shown of a call beside its arguments. Servers of tools show the arguments as JSON, perhaps behind something
 * else: they stand below, argument by argument. (Long numbers are exact only in the server's own text.)
 */
function withoutArguments({ arguments: given, preview }: Pick<CallShape, "arguments" | "preview">): string | null {
  if (preview == null) return null;
  const start = preview.startsWith("{") ? 0 : preview.lastIndexOf("\n\n{") + 2;
  if (start === 1 || !isJsonOf(preview.slice(start), given)) return preview;
  return start === 0 ? null : preview.slice(0, start - 2);
}

function isJsonOf(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

const RISKS: Words = {
  delete: ["It deletes something.", "它会删除内容。"],
  overwrite: ["May replace files that are there.", "可能会覆盖已有文件。"],
  network: ["It goes to the network.", "它会访问网络。"],
  privilege: ["It asks for more rights than you gave it.", "它要求更高的权限。"],
  "not shown whole": [
    "The change is too long to be compared whole: read the arguments.",
    "更改过长，无法完整对比：请查看参数。",
  ],
  padding: ["Long stretches of blanks: something may stand out of sight.", "有大段空白：可能有内容被移出视线。"],
  "invisible characters": [
    "The text has invisible characters. They are shown as ⟨U+…⟩.",
    "文本含有不可见字符，以 ⟨U+…⟩ 显示。",
  ],
  "unusual blanks": [
    "The text has blanks that are no spaces. They are shown as ⟨U+…⟩.",
    "文本含有并非普通空格的空白，以 ⟨U+…⟩ 显示。",
  ],
  "long numbers": ["It holds a number that is too long to be shown exactly.", "含有无法精确显示的过长数字。"],
  "look-alike letters": [
    "The text has letters or signs that look like others: read names and paths with care.",
    "文本含有形似其他字符的字母或符号：请仔细核对名称和路径。",
  ],
};
const OWN_RISK = ["Marked by its tool: {mark}.", "工具标记：{mark}。"] as const;

export function risksOf(call: Pick<CallShape, "dangerous">, language: Language): readonly string[] {
  return (call.dangerous ?? []).map((mark) => {
    const words = Object.hasOwn(RISKS, mark) ? RISKS[mark] : undefined;
    return words === undefined ? sayWord(OWN_RISK, language, { mark }) : sayWord(words, language);
  });
}

export function isDangerous(call: Pick<CallShape, "dangerous">): boolean {
  return (call.dangerous ?? []).length > 0;
}

const STATUS = {
  pending: ["waits for you", "等待你决定"],
  approved: ["approved", "已批准"],
  executing: ["running", "运行中"],
  executed: ["done", "已完成"],
  failed: ["failed", "失败"],
  rejected: ["rejected", "已拒绝"],
  denied: ["not allowed", "不允许"],
  cancelled: ["cancelled", "已取消"],
  interrupted: ["interrupted", "已中断"],
} as const satisfies Record<CallShape["status"], readonly [string, string]>;

export function statusWords(status: CallShape["status"], language: Language): string {
  return sayWord(STATUS[status], language);
}

const UNDER_A_SECOND = ["{n} ms", "{n} 毫秒"] as const;
const SECONDS = ["{n} s", "{n} 秒"] as const;
const MINUTES = ["{m} min {s} s", "{m} 分 {s} 秒"] as const;

/** How long it took; empty for what nobody need know. */
export function durationWords(milliseconds: number, language: Language): string {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return "";
  if (milliseconds < 1_000) return sayWord(UNDER_A_SECOND, language, { n: Math.round(milliseconds) });
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return sayWord(SECONDS, language, { n: seconds < 10 ? seconds.toFixed(1) : Math.round(seconds) });
  return sayWord(MINUTES, language, { m: Math.floor(seconds / 60), s: Math.round(seconds % 60) });
}
