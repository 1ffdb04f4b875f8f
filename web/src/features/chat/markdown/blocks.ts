/**
 * An answer as blocks, kept while it grows. What can no longer change is frozen: only the text behind it is lexed
 * again, and a block that stays the same stays the same object, so that nothing is rendered twice.
 */
import type { Links, Token, Tokens } from "marked";
import { completeOpenSyntax } from "./openSyntax";
import { lex } from "./lexer";

export interface Block {
  readonly token: Token;
}

export interface Answer {
  readonly text: string;
  readonly isStreaming: boolean;
  readonly blocks: readonly Block[];
  /** How many of them are frozen, and where the text behind them begins. */
  readonly frozen: number;
  readonly cut: number;
  /** Where references to links lead. */
  readonly links: Readonly<Links>;
}

export const EMPTY_ANSWER: Answer = { text: "", isStreaming: true, blocks: [], frozen: 0, cut: 0, links: {} };

/** No answer is this long. What is behind it stays as typed. */
const MAX_LEXED_CHARACTERS = 200_000;
/** Nor is one quote or paragraph, nor has a list this many lines. */
const MAX_BLOCK_CHARACTERS = 32_000;
const MAX_BLOCK_LINES = 1_000;
const MAX_BLOCKS = 1_500;

/** The answer with this text. What came before makes no difference to it: it only saves work. */
export function updateAnswer(previous: Answer, newText: string, isStreaming: boolean): Answer {
  const text = newText.includes("\r") ? newText.replace(/\r\n?/g, "\n") : newText;
  if (text === previous.text && isStreaming === previous.isStreaming) return previous;
  const isContinued = text.startsWith(previous.text) && (previous.isStreaming || text.length === previous.text.length);
  let base = isContinued ? previous : EMPTY_ANSWER;

  let tail = text.slice(base.cut, MAX_LEXED_CHARACTERS);
  let lexed = lex(tail, base.links);
  const isDefining = isStreaming && tail.slice(tail.lastIndexOf("\n") + 1).includes("]:");
  const hasNewLinks = !isDefining && Object.keys(lexed.links).length > Object.keys(base.links).length;
  if (hasNewLinks && base.frozen > 0) {
    base = EMPTY_ANSWER;
    tail = text.slice(0, MAX_LEXED_CHARACTERS);
    lexed = lex(tail);
  }

  const { tokens, links } = lexed;
  const previousBlocks = new Map<string, Block>();
  for (const block of previous.blocks.slice(base.frozen)) {
    if (!hasNewLinks || !block.token.raw.includes("[")) previousBlocks.set(keyOf(block.token), block);
  }
  const blocksOf = (blockTokens: readonly Token[]): Block[] =>
    blockTokens
      .filter(isShown)
      .map(boundedToken)
      .map((token) => previousBlocks.get(keyOf(token)) ?? { token });

  // While a definition is being written, where it leads is not known: nothing is final.
  const isFinal = isDefining ? 0 : finalTokens(tokens, tail);
  const frozen = [...base.blocks.slice(0, base.frozen), ...blocksOf(tokens.slice(0, isFinal))];
  const openTokens = tokens.slice(isFinal);
  const blocks = [...frozen, ...blocksOf(isStreaming ? completeOpenSyntax(openTokens, links) : openTokens)];
  if (text.length > MAX_LEXED_CHARACTERS) blocks.push({ token: plainTextToken(text.slice(MAX_LEXED_CHARACTERS)) });
  const cut = base.cut + tokens.slice(0, isFinal).reduce((sum, token) => sum + token.raw.length, 0);
  return { text, isStreaming, blocks, frozen: frozen.length, cut, links: isDefining ? base.links : links };
}

/**
 * How many of the tokens stay as they are, whatever follows. Only a list, a fence and HTML go on behind an empty line,
 * and each of them has ended if the next line, once it is whole, does not belong to it. Nothing but a list reaches a
 * line that begins another list.
 */
function finalTokens(tokens: readonly Token[], tail: string): number {
  const lastLine = tail.lastIndexOf("\n") + 1;
  let final = 0;
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    if (!tail.startsWith(token.raw, at)) break;
    const before = tokens[index - 1];
    const isApart = before?.type === "space" && before.raw.split("\n").length > 2;
    const isSplit = before?.type === "list" && token.type === "list";
    if (at < lastLine && (isApart || isSplit)) final = index;
    at += token.raw.length;
  }
  return final;
}

function isShown(token: Token): boolean {
  return token.type !== "space" && token.type !== "def";
}

/** The blocks of an answer, as many as a page can bear. What is more stays as typed. */
export function boundedBlocks({ blocks }: Answer): readonly Block[] {
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

/** What a token is made of. A line may be written the same and belong to what is before it, or not: the text tells. */
function keyOf(token: Token): string {
  return `${token.type} ${token.raw} ${"text" in token ? token.text : ""}`;
}
