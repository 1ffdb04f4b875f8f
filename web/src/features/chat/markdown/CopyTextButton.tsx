/** A text button that copies a text and confirms that for a moment. */
import type { ReactElement } from "react";
import { useCopyFeedback } from "../../../ui/useCopyFeedback";
import { useMarkdownContext } from "./labels";

interface Props {
  readonly name: string;
  readonly text: () => string;
}

export function CopyTextButton({ name, text }: Props): ReactElement {
  const { labels, onCopied } = useMarkdownContext();
  const { isCopied, copy } = useCopyFeedback();
  return (
    <button type="button" onClick={() => void copy(text()).then((isDone) => isDone && onCopied?.())}>
      {isCopied ? labels.copied : name}
    </button>
  );
}
