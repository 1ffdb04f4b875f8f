/** The labels around an answer, supplied by the caller in the user's language. */
import { createContext, useContext } from "react";

export interface MarkdownWords {
  readonly copy: string;
  readonly copied: string;
  readonly copyTable: string;
  readonly wrap: string;
  readonly download: string;
  /** `{n}` stands for the number of lines. */
  readonly showAll: string;
  /** The name of a block without a language. */
  readonly code: string;
  readonly table: string;
  readonly image: string;
  readonly done: string;
  readonly notDone: string;
}

export interface Around {
  readonly words: MarkdownWords;
  readonly onCopied?: (() => void) | undefined;
}

const Context = createContext<Around | undefined>(undefined);
export const AroundProvider = Context.Provider;

export function useAround(): Around {
  const around = useContext(Context);
  if (around === undefined) throw new Error("This is shown inside of Markdown only.");
  return around;
}
