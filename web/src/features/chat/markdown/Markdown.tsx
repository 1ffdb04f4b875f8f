/** A model's answer, as Markdown, while it comes in and afterwards. Nothing in it runs and nothing in it loads. */
import { memo, useMemo, useRef, type ReactElement } from "react";
import { EMPTY_ANSWER, updateAnswer, boundedBlocks, type Block } from "./blocks";
import "./markdown.css";
import { BlockToken } from "./render";
import { AroundProvider, type MarkdownWords } from "./words";

export type { MarkdownWords } from "./words";

interface Props {
  readonly text: string;
  readonly isStreaming: boolean;
  /** The same object as long as the language is the same: another one renders everything again. */
  readonly words: MarkdownWords;
  /** Something is in the clipboard now: to be announced. As stable as the words. */
  readonly onCopied?: (() => void) | undefined;
}

export const Markdown = memo(function Markdown({ text, isStreaming, words, onCopied }: Props): ReactElement {
  // A memory, not a state: `grow` gives the same for the same text, whatever is remembered.
  const answer = useRef(EMPTY_ANSWER);
  answer.current = updateAnswer(answer.current, text, isStreaming);
  const blocks = boundedBlocks(answer.current);

  const around = useMemo(() => ({ words, onCopied }), [words, onCopied]);
  return (
    <AroundProvider value={around}>
      <div className="md">
        {blocks.map((block, index) => (
          <BlockView key={index} block={block} isOpen={isStreaming && index === blocks.length - 1} />
        ))}
      </div>
    </AroundProvider>
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
