/** Renders a model's answer as Markdown, also while it is streaming. The output runs no code and loads no resource. */
import { memo, useMemo, useRef, type ReactElement } from "react";
import { EMPTY_ANSWER, updateAnswer, boundedBlocks, type Block } from "./blocks";
import "./markdown.css";
import { BlockToken } from "./render";
import { MarkdownContextProvider, type MarkdownLabels } from "./labels";

export type { MarkdownLabels } from "./labels";

interface Props {
  readonly text: string;
  readonly isStreaming: boolean;
  /** Must be the same object while the language is the same: a new object renders everything again. */
  readonly labels: MarkdownLabels;
  /** Announces that a text was copied. As stable as `labels`. */
  readonly onCopied?: (() => void) | undefined;
}

export const Markdown = memo(function Markdown({ text, isStreaming, labels, onCopied }: Props): ReactElement {
  // A cache, not state: `updateAnswer` returns the same result for the same text, whatever the previous answer was.
  const answer = useRef(EMPTY_ANSWER);
  answer.current = updateAnswer(answer.current, text, isStreaming);
  const blocks = boundedBlocks(answer.current);

  const context = useMemo(() => ({ labels, onCopied }), [labels, onCopied]);
  return (
    <MarkdownContextProvider value={context}>
      <div className="md">
        {blocks.map((block, index) => (
          <BlockView key={index} block={block} isOpen={isStreaming && index === blocks.length - 1} />
        ))}
      </div>
    </MarkdownContextProvider>
  );
});

const BlockView = memo(function BlockView({
  block,
  isOpen,
}: {
  readonly block: Block;
  readonly isOpen: boolean;
}): ReactElement {
  return <BlockToken token={block.token} isOpen={isOpen} />;
});
