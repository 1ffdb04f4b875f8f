/**
 * Splits a growing answer into blocks. Blocks that can no longer change are frozen: only the text after them is lexed
 * again, and an unchanged block remains the same object, so that it is not rendered again.
 */
import type { Links, Token, Tokens } from "marked";
import { completeOpenSyntax } from "./openSyntax";
import { lex } from "./lexer";

export interface Block {
  readonly token: Token;
}

export interface ParsedAnswer {
  readonly text: string;
  readonly isStreaming: boolean;
  readonly blocks: readonly Block[];
  /** The number of frozen blocks, and the offset of the text after them. */
  readonly frozenCount: number;
  readonly frozenEnd: number;
  /** Link definitions by label. */
  readonly links: Readonly<Links>;
}

export const EMPTY_ANSWER: ParsedAnswer = {
  text: "",
  isStreaming: true,
  blocks: [],
  frozenCount: 0,
  frozenEnd: 0,
  links: {},
};

/** Longer than any real answer. The rest is shown as plain text. */
const MAX_LEXED_CHARACTERS = 200_000;
/** Longer than any real quote, paragraph or list. */
const MAX_BLOCK_CHARACTERS = 32_000;
const MAX_BLOCK_LINES = 1_000;
const MAX_BLOCKS = 1_500;

/** Parses a text. The result depends on the text alone; `previous` only saves work. */
export function updateAnswer(previous: ParsedAnswer, newText: string, isStreaming: boolean): ParsedAnswer {
  const text = newText.includes("\r") ? newText.replace(/\r\n?/g, "\n") : newText;
  if (text === previous.text && isStreaming === previous.isStreaming) return previous;
  const isContinued = text.startsWith(previous.text) && (previous.isStreaming || text.length === previous.text.length);
  let base = isContinued ? previous : EMPTY_ANSWER;

  let tail = text.slice(base.frozenEnd, MAX_LEXED_CHARACTERS);
  let result = lex(tail, base.links);
  const isDefining = isStreaming && tail.slice(tail.lastIndexOf("\n") + 1).includes("]:");
  const hasNewLinks = !isDefining && Object.keys(result.links).length > Object.keys(base.links).length;
  if (hasNewLinks && base.frozenCount > 0) {
    base = EMPTY_ANSWER;
    tail = text.slice(0, MAX_LEXED_CHARACTERS);
    result = lex(tail);
  }

  const { tokens, links } = result;
  const previousBlocks = new Map<string, Block>();
  for (const block of previous.blocks.slice(base.frozenCount)) {
    if (!hasNewLinks || !block.token.raw.includes("[")) previousBlocks.set(keyOf(block.token), block);
  }
  const blocksOf = (blockTokens: readonly Token[]): Block[] =>
    blockTokens
      .filter(isShown)
      .map(boundedToken)
      .map((token) => previousBlocks.get(keyOf(token)) ?? { token });

  // While a link definition is incomplete, its target is unknown, so no token is final.
  const isFinal = isDefining ? 0 : finalTokens(tokens, tail);
  const frozen = [...base.blocks.slice(0, base.frozenCount), ...blocksOf(tokens.slice(0, isFinal))];
  const openTokens = tokens.slice(isFinal);
  const blocks = [...frozen, ...blocksOf(isStreaming ? completeOpenSyntax(openTokens, links) : openTokens)];
  if (text.length > MAX_LEXED_CHARACTERS) blocks.push({ token: plainTextToken(text.slice(MAX_LEXED_CHARACTERS)) });
  const frozenEnd = base.frozenEnd + tokens.slice(0, isFinal).reduce((sum, token) => sum + token.raw.length, 0);
  return { text, isStreaming, blocks, frozenCount: frozen.length, frozenEnd, links: isDefining ? base.links : links };
}

/**
 * The number of leading tokens that no further text can change. Only lists, fences and HTML continue after an empty
 * line, and each of them has ended if the next complete line does not belong to it. Only a list can reach a line that
 * begins another list.
 */
function finalTokens(tokens: readonly Token[], tail: string): number {
  const lastLine = tail.lastIndexOf("\n") + 1;
  let final = 0;
  let offset = 0;
  for (const [index, token] of tokens.entries()) {
    if (!tail.startsWith(token.raw, offset)) break;
    const before = tokens[index - 1];
    const isApart = before?.type === "space" && before.raw.split("\n").length > 2;
    const isSplit = before?.type === "list" && token.type === "list";
    if (offset < lastLine && (isApart || isSplit)) final = index;
    offset += token.raw.length;
  }
  return final;
}

function isShown(token: Token): boolean {
  return token.type !== "space" && token.type !== "def";
}

/** The blocks to render, up to a limit. The rest becomes plain text. */
export function boundedBlocks({ blocks }: ParsedAnswer): readonly Block[] {
  if (blocks.length <= MAX_BLOCKS) return blocks;
  const rest = blocks.slice(MAX_BLOCKS).map((block) => block.token.raw);
  return [...blocks.slice(0, MAX_BLOCKS), { token: plainTextToken(rest.join("\n")) }];
}

function boundedToken(token: Token): Token {
  if (token.type === "code" || token.type === "table") return token;
  const isLong =
    token.raw.length > MAX_BLOCK_CHARACTERS || token.raw.split("\n", MAX_BLOCK_LINES + 1).length > MAX_BLOCK_LINES;
  return isLong ? plainTextToken(token.raw) : token;
}

function plainTextToken(text: string): Tokens.Code {
  return { type: "code", codeBlockStyle: "indented", raw: text, text };
}

/**
 * The identity of a block. The same source line may or may not continue the previous block, so the token's text is part
 * of the key.
 */
function keyOf(token: Token): string {
  return `${token.type} ${token.raw} ${"text" in token ? token.text : ""}`;
}
