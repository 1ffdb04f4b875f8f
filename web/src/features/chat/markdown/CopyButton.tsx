/** A button that copies a text, and says for a moment that it did. */
import { useEffect, useState, type ReactElement } from "react";
import { copyText } from "./clipboard";
import { useAround } from "./words";

const SAID_FOR_MS = 1_500;

interface Props {
  readonly name: string;
  readonly text: () => string;
}

export function CopyButton({ name, text }: Props): ReactElement {
  const { words, onCopied } = useAround();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  async function copy(): Promise<void> {
    if (!(await copyText(text()))) return;
    setCopied(true);
    onCopied?.();
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {isCopied ? words.copied : name}
    </button>
  );
}
