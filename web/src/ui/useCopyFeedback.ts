/** Copies a text and reports success for a moment. */
import { useEffect, useRef, useState } from "react";
import { copyText } from "./clipboard";

const COPIED_FEEDBACK_MS = 1_500;

/** `copy` returns whether it succeeded. */
export function useCopyFeedback(): { isCopied: boolean; copy(text: string): Promise<boolean> } {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    isCopied,
    async copy(text) {
      const isDone = await copyText(text);
      setCopied(isDone);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setCopied(false), COPIED_FEEDBACK_MS);
      return isDone;
    },
  };
}
