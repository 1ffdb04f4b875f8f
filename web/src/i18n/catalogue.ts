/** Types of the text catalogues: a translation has every text of the English catalogue, with the same parameters. */
import type { en } from "./en";

type English = typeof en;
export type Section = keyof English;
export type TextName<S extends Section> = keyof English[S];
export type Catalogue = { readonly [S in Section]: { readonly [K in TextName<S>]: string } };

/** The name of a parameter: the part before the first bar. Braces that contain a space are literal braces. */
type NameIn<T extends string> = T extends `${infer Name}|${string}`
  ? Name
  : T extends `${string} ${string}`
    ? never
    : T;
/** The names of a text's parameters: `n` and `place` in "{n|One|These {n}} in {place}". */
export type ParamsOf<T> = T extends `${string}{${infer Inner}}${infer Rest}`
  ? NameIn<Inner> | (Inner extends `${string}{${string}` ? ParamsOf<`${Inner}}`> : never) | ParamsOf<Rest>
  : never;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Checked<Translation> = {
  readonly [S in keyof Translation | Section]: S extends Section & keyof Translation
    ? {
        readonly [K in keyof Translation[S] | TextName<S>]: K extends TextName<S> & keyof Translation[S]
          ? Same<ParamsOf<Translation[S][K]>, ParamsOf<English[S][K]>> extends true
            ? string
            : { readonly "other parameters than in English": ParamsOf<English[S][K]> }
          : K extends TextName<S>
            ? string
            : never;
      }
    : S extends Section
      ? Catalogue[S]
      : never;
};

/** Defines the catalogue of a translation. A missing text, an extra text or different parameters are a type error. */
export function translation<const Translation>(texts: Translation & Checked<Translation>): Catalogue {
  return texts as unknown as Catalogue;
}
