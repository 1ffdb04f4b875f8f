/** The web client's own texts, looked up by section and name: `const t = useTexts("chat"); t("newBelow", { n: 3 })`. */
import { useLanguage } from "../app/appServices";
import type { ParamsOf, Section, TextName } from "./catalogue";
import type { en } from "./en";
import { LANGUAGES, type Language } from "./languages";
import { fillParams } from "./serverTexts";

export type { TextName } from "./catalogue";
export type Params = Readonly<Record<string, string | number>>;

/**
 * The parameters argument of a text: required if the text has parameters. A union of names requires the parameters of
 * all of them.
 */
type ParamsArgument<Names> = [Names] extends [never]
  ? [params?: Params]
  : [params: Params & { readonly [Name in Names & string]: string | number }];

/** The lookup for one section of the catalogue. */
export type Texts<S extends Section> = <K extends TextName<S>>(
  name: K,
  ...args: ParamsArgument<ParamsOf<(typeof en)[S][K]>>
) => string;

const PLURAL = /\{(\w+)\|((?:[^|{}]|\{\w+\})*)\|((?:[^{}]|\{\w+\})*)\}/g;

/** Fills in parameters: `{n}` becomes the value, `{n|call|calls}` the singular if `n` is 1 and the plural otherwise. */
export function fillText(text: string, params: Params = {}): string {
  return fillParams(
    text.replace(PLURAL, (_, name: string, singular: string, plural: string) =>
      params[name] === 1 ? singular : plural,
    ),
    params,
  );
}

/** Narrows a name that comes from the server to the names of the section's texts. */
export function hasText<S extends Section>(section: S, name: PropertyKey): name is TextName<S> {
  return Object.hasOwn(LANGUAGES.en.texts[section], name);
}

/** The lookup for a section in the given language. */
export function textsIn<S extends Section>(language: Language, section: S): Texts<S> {
  const texts = LANGUAGES[language].texts[section];
  return (name, ...[params]) => fillText(texts[name], params);
}

/** The lookup for a section in the user's language. */
export function useTexts<S extends Section>(section: S): Texts<S> {
  return textsIn(useLanguage(), section);
}
