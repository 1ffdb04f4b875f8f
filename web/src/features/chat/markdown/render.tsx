/** Marked's tokens as React elements. No HTML is made of text: raw HTML stays the text that it is. */
import type { Token, Tokens } from "marked";
import { memo, type ReactElement, type ReactNode } from "react";
import { CodeBlock } from "./CodeBlock";
import { Inline } from "./inline";
import { Table } from "./Table";
import { isMarked } from "./markedTokens";

/** A message is an article with a heading of its own: headings in it begin below that. */
const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"] as const;

/** `isOpen` while text is still coming into this block. */
export function BlockToken({ token, isOpen }: { readonly token: Token; readonly isOpen: boolean }): ReactNode {
  if (!isMarked(token)) return token.raw;
  switch (token.type) {
    case "paragraph":
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      );
    case "heading": {
      const Heading = HEADINGS[token.depth - 1] ?? "h6";
      return (
        <Heading>
          <Inline tokens={token.tokens} />
        </Heading>
      );
    }
    case "list":
      return <List list={token} isOpen={isOpen} />;
    case "code":
      return <CodeBlock code={token.text} info={token.lang ?? ""} isOpen={isOpen && !isClosed(token)} />;
    case "table":
      return <Table table={token} />;
    case "blockquote":
      return (
        <blockquote>
          <BlockTokens tokens={token.tokens} isOpen={isOpen} />
        </blockquote>
      );
    case "hr":
      return <hr />;
    case "html":
      return <p className="md-raw">{token.text.trim()}</p>;
    case "space":
    case "def":
      return null;
    default: // in a list's item, text and its checkbox stand without a paragraph
      return <Inline tokens={[token]} />;
  }
}

function BlockTokens({ tokens, isOpen }: { readonly tokens: readonly Token[]; readonly isOpen: boolean }): ReactNode {
  return tokens.map((token, index) => (
    <BlockToken key={index} token={token} isOpen={isOpen && index === tokens.length - 1} />
  ));
}

function List({ list, isOpen }: { readonly list: Tokens.List; readonly isOpen: boolean }): ReactElement {
  const items = list.items.map((item, index) => (
    <Item key={index} item={item} isOpen={isOpen && index === list.items.length - 1} />
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={list.start === "" ? undefined : list.start}>{items}</ol>;
}

interface ItemProps {
  readonly item: Tokens.ListItem;
  readonly isOpen: boolean;
}

/** An item that is written the same is the same, unless it may refer to a link that was defined since. */
const Item = memo(
  function Item({ item, isOpen }: ItemProps): ReactElement {
    return (
      <li className={item.task ? "md-task" : undefined}>
        <BlockTokens tokens={item.tokens} isOpen={isOpen} />
      </li>
    );
  },
  ({ item, isOpen }, next) =>
    item.raw === next.item.raw && item.loose === next.item.loose && isOpen === next.isOpen && !item.raw.includes("["),
);

/** Whether a fence has its end. Until then the code is not whole. */
function isClosed(code: Tokens.Code): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(code.raw)?.[1];
  if (fence === undefined) return true;
  const last = code.raw.trimEnd().split("\n").slice(1).at(-1)?.trim() ?? "";
  return last.startsWith(fence) && last.replaceAll(fence.slice(0, 1), "") === "";
}
