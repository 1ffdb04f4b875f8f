/** The title of the document: what waits, the conversation, the name. Each part is set by whoever knows it. */
import { useEffect } from "react";

const NAME = "Pilothouse";

export interface TitleParts {
  /** Before everything: that something waits for the person. */
  readonly badge?: string;
  readonly conversation?: string;
}

let parts: TitleParts = {};

export function titleOf({ badge = "", conversation = "" }: TitleParts): string {
  const name = conversation === "" ? NAME : `${conversation} – ${NAME}`;
  return badge === "" ? name : `${badge} ${name}`;
}

/** An empty text takes the part away. */
export function useTitlePart(part: keyof TitleParts, text: string): void {
  useEffect(() => {
    parts = { ...parts, [part]: text };
    document.title = titleOf(parts);
    return () => {
      parts = { ...parts, [part]: "" };
      document.title = titleOf(parts);
    };
  }, [part, text]);
}
