/** The document title: pending badge, conversation, product name. Each component sets its own part. */
import { useEffect } from "react";

const PRODUCT_NAME = "Pilothouse";

interface TitleParts {
  /** Marks a conversation that needs the user. */
  readonly badge?: string;
  readonly conversation?: string;
}

let parts: TitleParts = {};

export function titleOf({ badge = "", conversation = "" }: TitleParts): string {
  const name = conversation === "" ? PRODUCT_NAME : `${conversation} – ${PRODUCT_NAME}`;
  return badge === "" ? name : `${badge} ${name}`;
}

/** Sets a part of the title; an empty text removes it. */
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
