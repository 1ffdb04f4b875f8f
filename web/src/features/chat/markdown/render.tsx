/** Renders marked's block tokens as React elements. Raw HTML is shown as text and never parsed. */
import type { Token, Tokens } from "marked";
import { memo, type ReactElement, type ReactNode } from "react";
import { CodeBlock } from "./CodeBlock";
import { Inline } from "./inline";
import { Table } from "./Table";
import { isMarkedToken } from "./markedTokens";

/** Headings of an answer start at level 3, below the headings of the page. */
const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"] as const;

/** `isOpen`: the block is still being streamed. */
export function BlockToken({ token, isOpen }: { readonly token: Token; readonly isOpen: boolean }): ReactNode {
  if (!isMarkedToken(token)) return token.raw;
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
    default: // text and checkbox of a list item have no paragraph
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

/** Not rendered again for the same source, unless it contains a bracket: a link definition may have been added. */
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

/** Whether a fenced block is closed, so that its code is complete. */
function isClosed(code: Tokens.Code): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(code.raw)?.[1];
  if (fence === undefined) return true;
  const last = code.raw.trimEnd().split("\n").slice(1).at(-1)?.trim() ?? "";
  return last.startsWith(fence) && last.replaceAll(fence.slice(0, 1), "") === "";
}
