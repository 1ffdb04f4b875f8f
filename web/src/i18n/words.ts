/** The page's own words. Each stands with its translation, so that none can be missing: `send: ["Send", "发送"]`. */
import { useLanguage } from "../app/page";
import { filled, type Language } from "./say";

export type Words = Readonly<Record<string, readonly [en: string, zh: string]>>;
export type Params = Readonly<Record<string, string | number>>;
export type Say<W extends Words> = (name: keyof W, params?: Params) => string;

const PLURAL = /\{(\w+)\|((?:[^|{}]|\{\w+\})*)\|((?:[^{}]|\{\w+\})*)\}/g;

/** `{n}` is a parameter; `{n|call|calls}` is the one or the other, as many as n is. */
export function sayWord([en, zh]: readonly [string, string], language: Language, params: Params = {}): string {
  const text = language === "zh" ? zh : en;
  return filled(
    text.replace(PLURAL, (_, name: string, one: string, more: string) => (params[name] === 1 ? one : more)),
    params,
  );
}

/** The words of a part of the page, in the person's language. */
export function useWords<W extends Words>(words: W): Say<W> {
  const language = useLanguage();
  return (name, params) => sayWord(words[name] as readonly [string, string], language, params);
}
