/** A text button that copies a text and confirms that for a moment. */
import type { ReactElement } from "react";
import { useCopy } from "../../../ui/useCopyFeedback";
import { useAround } from "./words";

interface Props {
  readonly name: string;
  readonly text: () => string;
}

export function CopyButton({ name, text }: Props): ReactElement {
  const { words, onCopied } = useAround();
  const { isCopied, copy } = useCopy();
  return (
    <button type="button" onClick={() => void copy(text()).then((isDone) => isDone && onCopied?.())}>
      {isCopied ? words.copied : name}
    </button>
  );
}
