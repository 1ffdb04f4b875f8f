/** Lexes Markdown with marked, within limits, and never throws. Text beyond the limits stays plain. */
import { Lexer, Tokenizer, type Links, type Token, type Tokens } from "marked";
import { CjkHooks, inlineRules } from "./cjk";

interface LexResult {
  readonly tokens: readonly Token[];
  readonly links: Readonly<Links>;
}

// Marked needs quadratic time or deep recursion for these. The limits are far above real texts.
const MAX_DEPTH = 24;
const MAX_INLINE_CHARACTERS = 8_000;
const OVERLONG_WORD = /[!-~]{2000}/;
const MAX_TABLE_CELLS = 5_000;
const MAX_LAZY_LINES = 50;
const MAX_LINK_DEFINITIONS = 100;
const MAX_LIST_CHARACTERS = 16_000;
const MAX_HEADING_CHARACTERS = 2_000;

const DELIMITER = /^(?=.*[:|]) {0,3}(?:\| *)?:?-+:? *(?:\| *:?-+:? *)*(?:\| *)?$/;
const LAZY_LINE = /^ {0,3}>.*\n(?! {0,3}>)/gm;
const NEXT_ITEM = /\n(?= {0,3}(?:[*+-]|\d{1,9}[.)])[ \t])/g;

/** Ends a paragraph where a table begins, judged by two lines: marked's own rule reads all rows, again at each line. */
const { table, paragraph } = Lexer.rules.block.gfm;
const ROWS = table.source.slice(table.source.indexOf("(?:\\n((?:(?!"));
const blockRules = {
  ...Lexer.rules.block.gfm,
  paragraph: new RegExp(paragraph.source.replace(ROWS, () => "(?:\\n|$)")),
};

class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined;
    const quote = this.rules.block.blockquote.exec(src)?.[0];
    if (quote === undefined) return undefined;
    if ((quote.match(LAZY_LINE)?.length ?? 0) > MAX_LAZY_LINES) return plainTextQuote(quote.trimEnd());
    return this.#nested(() => super.blockquote(src));
  }

  /** Splits a very long list into several, each starting with an item. */
  override list(src: string): Tokens.List | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined;
    return this.#nested(() => {
      const head = src.length > MAX_LIST_CHARACTERS ? wholeLines(src.slice(0, MAX_LIST_CHARACTERS)) : src;
      const list = super.list(head);
      const isWhole = list === undefined || head === src || list.raw.length < head.trimEnd().length;
      return isWhole ? list : super.list(beforeItem(head));
    });
  }

  /** Limits a definition to one line. A title over several lines could change text that was rendered long before. */
  override def(src: string): Tokens.Def | undefined {
    const def = super.def(src.split("\n", 1)[0] ?? "");
    if (def === undefined) return undefined;
    const definitions = this.lexer.tokens.links;
    return definitions[def.tag] || Object.keys(definitions).length < MAX_LINK_DEFINITIONS ? def : undefined;
  }

  /** Limits the number of rows. Further rows stay plain text. */
  override table(src: string): Tokens.Table | undefined {
    const [header = "", delimiter = ""] = src.split("\n", 2);
    if (!DELIMITER.test(delimiter) || countCells(header) !== countCells(delimiter)) return undefined;
    const maxRows = Math.floor(MAX_TABLE_CELLS / countCells(header));
    return maxRows < 2 ? undefined : super.table(src.split("\n", maxRows).join("\n"));
  }

  /**
   * Limits the text to search: marked tries this rule at each line of a list item and would read to the end of the
   * text.
   */
  override lheading(src: string): Tokens.Heading | undefined {
    return super.lheading(src.length > MAX_HEADING_CHARACTERS ? wholeLines(src.slice(0, MAX_HEADING_CHARACTERS)) : src);
  }

  /** Only `~~` is deletion: single tildes mean "to", as in `20~30`. */
  override del(src: string, masked: string, before?: string): Tokens.Del | undefined {
    return src.startsWith("~~") ? super.del(src, masked, before) : undefined;
  }

  #nested<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }
}

class BoundedLexer extends Lexer {
  constructor(links: Readonly<Links>) {
    const tokenizer = new BoundedTokenizer();
    super({ gfm: true, breaks: false, pedantic: false, tokenizer, hooks: new CjkHooks() });
    tokenizer.rules = { ...tokenizer.rules, block: blockRules, inline: inlineRules };
    Object.assign(this.tokens.links, links);
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= MAX_INLINE_CHARACTERS && !OVERLONG_WORD.test(src)) return super.inlineTokens(src, tokens);
    tokens.push(plainTextToken(src));
    return tokens;
  }
}

/** `links` are the definitions known so far; the result contains these and the new ones. */
export function lex(text: string, links: Readonly<Links> = {}): LexResult {
  const lexer = new BoundedLexer(links);
  try {
    return { tokens: lexer.lex(text), links: lexer.tokens.links };
  } catch {
    return { tokens: [{ type: "html", block: true, pre: false, raw: text, text }], links };
  }
}

/** The number of cells in a line of a table. */
function countCells(line: string): number {
  return line
    .trim()
    .replace(/\\./g, "x")
    .replace(/^\||\|$/g, "")
    .split("|").length;
}

function plainTextToken(text: string): Tokens.Text {
  return { type: "text", raw: text, text, escaped: true };
}

function plainTextQuote(raw: string): Tokens.Blockquote {
  return {
    type: "blockquote",
    raw,
    text: raw,
    tokens: [{ type: "paragraph", raw, text: raw, tokens: [plainTextToken(raw)] }],
  };
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1) || text;
}

/** The text without its last item, which may be incomplete. */
function beforeItem(head: string): string {
  const last = [...head.matchAll(NEXT_ITEM)].at(-1);
  return last === undefined ? head : head.slice(0, last.index + 1);
}
