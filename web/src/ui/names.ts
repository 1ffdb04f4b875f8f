/** Text from models, tools and servers, made safe to read: nothing in it is hidden, and names are words. */

/** Control, format, private and unassigned characters, separators of lines, and letters that show nothing. */
const HIDING =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const PLAIN = /^[\t\n\x20-\x7e]*$/;
const SYMBOL = /\p{So}/u;
const AT_MOST = 80;

/** The whole text, with each character that hides or turns something shown as what it is. Lines and tabs stay. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text;
  let shown = "";
  let isBehindSymbol = false; // what joins or colours an emoji stays where it follows one
  for (const character of text) {
    const isJoiner: boolean = isBehindSymbol && (character === "\u200d" || character === "\ufe0f");
    const isKept = isJoiner || character === "\n" || character === "\t" || !HIDING.test(character);
    shown += isKept ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`;
    isBehindSymbol = isJoiner || SYMBOL.test(character);
  }
  return shown;
}

/** A name on one line, and not longer than one can read. */
export function visibleName(name: string): string {
  const line = visibleText(name).replace(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length <= AT_MOST ? line : `${letters.slice(0, AT_MOST - 1).join("")}…`;
}

/** How a tool is called for a person. One of a server's stands behind the server's name. */
export function toolName(call: { readonly tool: string; readonly display_name: string }): string {
  const cut = call.tool.indexOf("__");
  if (cut <= 0 || cut + 2 >= call.tool.length) return visibleName(call.display_name || call.tool);
  return visibleName(`${call.tool.slice(0, cut)} · ${asWords(call.tool.slice(cut + 2))}`);
}

/** `list_open-issues` is "List Open Issues". The server says it better, but not without its own name before it. */
function asWords(name: string): string {
  const words = name.match(/[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+|[^\W\d_]+/gu) ?? [name];
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(" ");
}
