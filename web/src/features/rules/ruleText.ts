/** Describes rules in words: scope, lifetime and origin. */
import type { Rule, RuleOptionOffer } from "../../api/schema";
import type { Language } from "../../i18n/serverTexts";
import { textsIn } from "../../i18n/texts";
import { exactName, visibleName } from "../../ui/safeText";
import { relativeTime, timeOf } from "../../ui/timeFormat";
import { titleOf } from "../tool-calls/callText";

/** The scope of a rule in words. */
export function scopeText(rule: Pick<Rule, "effect" | "scope">, language: Language): string {
  const t = textsIn(language, "ruleScopes");
  const { scope, effect } = rule;
  const tool = scope.tool ?? "*";
  const toolParams = { tool: tool === "*" ? t("all") : toolText(tool, language) };
  const isAllowing = effect === "allow";
  const parts: string[] = [];
  if (scope.fingerprint != null) {
    parts.push(t("exact", { ...toolParams, arguments: argumentsText(scope.arguments ?? "…") }));
  }
  if ((scope.words ?? []).length > 0) {
    const words = leadingWords(scope);
    parts.push(t(isAllowing ? "words" : "anyWords", { ...toolParams, words }));
  }
  if (scope.folder != null) {
    const folder = `${exactName(scope.folder).replace(/\/+$/, "")}/`;
    parts.push(t(isAllowing ? "folder" : "reaching", { ...toolParams, folder }));
  }
  if (parts.length === 0) parts.push(tool === "*" ? toolParams.tool : t("tool", toolParams));
  return parts.join("; ");
}

/** A short text for a rule option, shown next to the call and above the complete rule. */
export function shortRuleText({ scope }: Pick<Rule, "scope">, language: Language): string {
  const t = textsIn(language, "ruleOptions");
  if (scope.fingerprint != null) return t("exact");
  if ((scope.words ?? []).length > 0) return t("words", { words: leadingWords(scope) });
  if (scope.folder != null) return t("folder", { folder: `${exactName(scope.folder)}/` });
  return t("tool");
}

function leadingWords({ words }: Rule["scope"]): string {
  return (words ?? []).map((word) => exactName(shellQuote(word))).join(" ");
}

/** The title of a tool, and the name that the rule refers to. */
function toolText(tool: string, language: Language): string {
  const title = titleOf({ tool, display_name: "" }, language);
  const name = exactName(tool); // never shortened: the rule refers to the whole name
  return title === name ? name : textsIn(language, "punctuation")("aside", { text: title, aside: name });
}

/**
 * The server stores the beginning of long arguments and marks the cut. Earlier versions stored 200 characters without a
 * mark.
 */
function argumentsText(text: string): string {
  const isUnmarked = text.length === 200 && !text.endsWith("}");
  return isUnmarked ? `${exactName(text.trimEnd())}…` : exactName(text);
}

/** Quotes a word that contains blanks or special characters. */
function shellQuote(word: string): string {
  return /^[\p{L}\p{N}_./:=@%+,-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The conversation or folder of a rule, and its end. `context` is the open conversation. */
export function lifetimeText(
  rule: Pick<Rule, "lifetime" | "scope">,
  language: Language,
  context: string | null,
): string {
  const t = textsIn(language, "ruleLifetimes");
  const { context: contextId, until } = rule.lifetime ?? {};
  const parts: string[] = [];
  if (contextId != null) parts.push(t(contextId === context ? "here" : "there"));
  else if (until == null) parts.push(t("good"));
  if (until != null) parts.push(t("until", { time: timeOf(until, language) }));
  const { workspace } = rule.scope;
  if (contextId == null || workspace != null) {
    parts.push(workspace == null ? t("everywhere") : t("workspace", { workspace: exactName(workspace) }));
  }
  return parts.join(textsIn(language, "punctuation")("comma"));
}

/** The complete rule as a sentence. */
export function ruleText(
  rule: Pick<Rule, "effect" | "scope" | "lifetime">,
  language: Language,
  context: string | null,
): string {
  const join = textsIn(language, "punctuation")("comma");
  return `${effectText(rule.effect, language)}${textsIn(language, "punctuation")("colon")}${scopeText(rule, language)}${join}${lifetimeText(rule, language, context)}`;
}

export function effectText(effect: Rule["effect"], language: Language): string {
  return textsIn(language, "ruleEffects")(effect);
}

export function originText(
  { id, origin }: Pick<Rule, "id" | "origin">,
  language: Language,
  now: number,
  user: string | null = null,
): string {
  const t = textsIn(language, "ruleOrigins");
  if (origin.by === "runtime" && id.startsWith("damaged-")) return t("standIn");
  if (origin.file != null) return t("file", { file: exactName(origin.file) });
  const by = visibleName(origin.by);
  const isYou = origin.by === user;
  if (origin.at == null || origin.at === "") return isYou ? t("plainYou") : t("plain", { by });
  const params = { by, ago: relativeTime(origin.at, language, now) };
  if (origin.call == null) return isYou ? t("handYou", params) : t("hand", params);
  return isYou ? t("callYou", params) : t("call", params);
}

/**
 * Splits rule options into those for this conversation and permanent ones, keeping the server's order (narrowest
 * first).
 */
export function groupRuleOffers(offers: readonly RuleOptionOffer[]): {
  readonly forContext: readonly RuleOptionOffer[];
  readonly permanent: readonly RuleOptionOffer[];
} {
  return {
    forContext: offers.filter(({ rule }) => rule.lifetime?.context != null),
    permanent: offers.filter(({ rule }) => rule.lifetime?.context == null),
  };
}
