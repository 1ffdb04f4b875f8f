/** Rules in words: exactly what they let through, for how long, and where they come from. */
import type { Rule, RuleOffer } from "../../api/schema";
import type { Language } from "../../i18n/say";
import { sayWord } from "../../i18n/words";
import { exactName, visibleName } from "../../ui/names";
import { ago, timeOf } from "../../ui/times";
import { titleOf } from "./tools";

const EFFECTS = {
  allow: ["Allow without asking", "无需询问即允许"],
  ask: ["Always ask about", "总是询问"],
  deny: ["Never allow", "从不允许"],
} as const;
const WHAT = {
  all: ["every tool", "所有工具"],
  tool: ["every call of {tool}", "{tool} 的所有调用"],
  exact: ["{tool} with exactly these arguments: {arguments}", "{tool}，且参数完全相同：{arguments}"],
  words: ["{tool}: a single command that begins with “{words}”", "{tool}：以“{words}”开头的单条命令"],
  anyWords: ["{tool}: a command line with “{words}” in it", "{tool}：含有“{words}”的命令行"],
  folder: ["{tool}, only within {folder}", "{tool}，仅限 {folder} 内"],
  reaching: ["{tool}, where it reaches into {folder}", "{tool}，且涉及 {folder}"],
} as const;
const TERMS = {
  here: ["in this conversation and its sub-agents", "在此对话及其子智能体中"],
  there: ["in one conversation and its sub-agents", "在某个对话及其子智能体中"],
  good: ["for good", "长期有效"],
  until: ["until {time}", "直到 {time}"],
  workspace: ["in the workspace {workspace}", "在工作区 {workspace} 中"],
  everywhere: ["in every workspace", "在所有工作区中"],
} as const;
const ORIGINS = {
  file: ["From the file {file}", "来自文件 {file}"],
  call: ["Given by {by} {ago}, when a call was approved", "由 {by} 于{ago}批准调用时给出"],
  hand: ["Given by {by} {ago}", "由 {by} 于{ago}给出"],
  plain: ["Given by {by}", "由 {by} 给出"],
  standIn: [
    "A record was cut, rewritten or unreadable: revoke this rule once you have looked through the others",
    "记录被截断、改写或无法读取：检查其他规则后撤销此条",
  ],
} as const;

/** What the rule is about. */
export function scopeWords(rule: Pick<Rule, "effect" | "scope">, language: Language): string {
  const { scope, effect } = rule;
  const tool = scope.tool ?? "*";
  const named = { tool: tool === "*" ? sayWord(WHAT.all, language) : toolWords(tool, language) };
  const isAllowing = effect === "allow";
  const parts: string[] = [];
  if (scope.fingerprint != null) {
    parts.push(sayWord(WHAT.exact, language, { ...named, arguments: cut(scope.arguments ?? "…") }));
  }
  if ((scope.words ?? []).length > 0) {
    const words = leadingWords(scope);
    parts.push(sayWord(isAllowing ? WHAT.words : WHAT.anyWords, language, { ...named, words }));
  }
  if (scope.folder != null) {
    const folder = `${exactName(scope.folder).replace(/\/+$/, "")}/`;
    parts.push(sayWord(isAllowing ? WHAT.folder : WHAT.reaching, language, { ...named, folder }));
  }
  if (parts.length === 0) parts.push(tool === "*" ? named.tool : sayWord(WHAT.tool, language, named));
  return parts.join("; ");
}

const RUNGS = {
  exact: ["exactly this call", "仅完全相同的调用"],
  words: ["commands that begin with “{words}”", "以“{words}”开头的命令"],
  folder: ["this tool within {folder}", "此工具，仅限 {folder} 内"],
  tool: ["every call of this tool", "此工具的所有调用"],
} as const;

/** A rung of the ladder in short: the call stands beside it, and the whole rule below. */
export function rungWords({ scope }: Pick<Rule, "scope">, language: Language): string {
  if (scope.fingerprint != null) return sayWord(RUNGS.exact, language);
  if ((scope.words ?? []).length > 0) return sayWord(RUNGS.words, language, { words: leadingWords(scope) });
  if (scope.folder != null) return sayWord(RUNGS.folder, language, { folder: `${exactName(scope.folder)}/` });
  return sayWord(RUNGS.tool, language);
}

function leadingWords({ words }: Rule["scope"]): string {
  return (words ?? []).map((word) => exactName(quoted(word))).join(" ");
}

/** What the tool does, and the name that the rule holds to. */
function toolWords(tool: string, language: Language): string {
  const title = titleOf({ tool, display_name: "" }, language);
  const name = exactName(tool); // never shortened: the rule holds to all of it
  return title === name ? name : language === "zh" ? `${title}（${name}）` : `${title} (${name})`;
}

/** The server keeps the beginning of long arguments and marks the cut. Earlier versions kept 200 characters unmarked. */
function cut(text: string): string {
  const isUnmarked = text.length === 200 && !text.endsWith("}");
  return isUnmarked ? `${exactName(text.trimEnd())}…` : exactName(text);
}

/** A word with blanks or signs in it is one word all the same. */
function quoted(word: string): string {
  return /^[\p{L}\p{N}_./:=@%+,-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Where and how long it holds. `context` is the conversation that is looked at. */
export function termWords(rule: Pick<Rule, "lifetime" | "scope">, language: Language, context: string | null): string {
  const { context: only, until } = rule.lifetime ?? {};
  const parts: string[] = [];
  if (only != null) parts.push(sayWord(only === context ? TERMS.here : TERMS.there, language));
  else if (until == null) parts.push(sayWord(TERMS.good, language));
  if (until != null) parts.push(sayWord(TERMS.until, language, { time: timeOf(until, language) }));
  const { workspace } = rule.scope;
  if (only == null || workspace != null) {
    parts.push(
      workspace == null
        ? sayWord(TERMS.everywhere, language)
        : sayWord(TERMS.workspace, language, { workspace: exactName(workspace) }),
    );
  }
  return parts.join(language === "zh" ? "，" : ", ");
}

/** The whole rule as a sentence. */
export function ruleWords(
  rule: Pick<Rule, "effect" | "scope" | "lifetime">,
  language: Language,
  context: string | null,
): string {
  const join = language === "zh" ? "，" : ", ";
  return `${effectWords(rule.effect, language)}${language === "zh" ? "：" : ": "}${scopeWords(rule, language)}${join}${termWords(rule, language, context)}`;
}

export function effectWords(effect: Rule["effect"], language: Language): string {
  return sayWord(EFFECTS[effect], language);
}

export function originWords({ id, origin }: Pick<Rule, "id" | "origin">, language: Language, now: number): string {
  if (origin.by === "runtime" && id.startsWith("damaged-")) return sayWord(ORIGINS.standIn, language);
  if (origin.file != null) return sayWord(ORIGINS.file, language, { file: exactName(origin.file) });
  const by = visibleName(origin.by);
  if (origin.at == null || origin.at === "") return sayWord(ORIGINS.plain, language, { by });
  return sayWord(origin.call == null ? ORIGINS.hand : ORIGINS.call, language, {
    by,
    ago: ago(origin.at, language, now),
  });
}

/** The ladder in its two parts, each narrowest first, as the server gave it. */
export function laddersOf(offers: readonly RuleOffer[]): {
  readonly here: readonly RuleOffer[];
  readonly forGood: readonly RuleOffer[];
} {
  return {
    here: offers.filter(({ rule }) => rule.lifetime?.context != null),
    forGood: offers.filter(({ rule }) => rule.lifetime?.context == null),
  };
}
