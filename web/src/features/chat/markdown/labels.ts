/** The labels around an answer, supplied by the caller in the user's language. */
import { createContext, useContext } from "react";

export interface MarkdownLabels {
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

interface MarkdownContextValue {
  readonly labels: MarkdownLabels;
  readonly onCopied?: (() => void) | undefined;
}

const MarkdownContext = createContext<MarkdownContextValue | undefined>(undefined);
export const MarkdownContextProvider = MarkdownContext.Provider;

export function useMarkdownContext(): MarkdownContextValue {
  const context = useContext(MarkdownContext);
  if (context === undefined) throw new Error("This is shown inside of Markdown only.");
  return context;
}
