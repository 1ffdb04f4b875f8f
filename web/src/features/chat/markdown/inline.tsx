/**
 * Renders inline tokens: emphasis, code, links and images. An image is never loaded: its description and link are
 * shown.
 */
import type { Token, Tokens } from "marked";
import type { ReactElement, ReactNode } from "react";
import { visibleLine, visibleName, visibleText } from "../../../ui/safeText";
import { hostOf, safeUrl, textNamesHost } from "./linkTargets";
import { withoutEntities } from "./entities";
import { isMarkedToken } from "./markedTokens";
import { useMarkdownContext } from "./labels";

const MAX_INLINE_DEPTH = 16;
const LINE_BREAK = /^<br\s*\/?>$/i;

interface Props {
  readonly tokens: readonly Token[];
  readonly depth?: number;
  /** Whether the tokens are inside a link: links are not nested. */
  readonly isInLink?: boolean;
}

export function Inline({ tokens, depth = 0, isInLink = false }: Props): ReactNode {
  if (depth > MAX_INLINE_DEPTH) return visibleText(tokens.map((token) => token.raw).join(""));
  return tokens.map((token, index) => <InlineToken key={index} token={token} depth={depth + 1} isInLink={isInLink} />);
}

interface TokenProps {
  readonly token: Token;
  readonly depth: number;
  readonly isInLink: boolean;
}

function InlineToken({ token, depth, isInLink }: TokenProps): ReactNode {
  if (!isMarkedToken(token)) return visibleText(token.raw);
  const renderNested = (tokens: readonly Token[]): ReactElement => (
    <Inline tokens={tokens} depth={depth} isInLink={isInLink} />
  );
  switch (token.type) {
    case "text":
      if (token.tokens !== undefined) return renderNested(token.tokens);
      return visibleText(token.escaped === true ? token.text : withoutEntities(token.text));
    case "escape":
      return visibleText(token.text);
    case "strong":
      return <strong>{renderNested(token.tokens)}</strong>;
    case "em":
      return <em>{renderNested(token.tokens)}</em>;
    case "del":
      return <del>{renderNested(token.tokens)}</del>;
    case "codespan":
      return <code>{visibleText(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link link={token} depth={depth} isInLink={isInLink} />;
    case "image":
      return <Image image={token} isInLink={isInLink} />;
    case "checkbox":
      return <Checkbox isChecked={token.checked} />;
    case "html":
      return LINE_BREAK.test(token.text) ? <br /> : visibleText(token.text);
    default:
      return visibleText(token.raw);
  }
}

function Link({
  link,
  depth,
  isInLink,
}: {
  readonly link: Tokens.Link;
  readonly depth: number;
  readonly isInLink: boolean;
}): ReactNode {
  const href = link.autolink === true ? link.href : withoutEntities(link.href);
  const url = safeUrl(href);
  const text = link.autolink === true ? visibleText(link.text) : <Inline tokens={link.tokens} depth={depth} isInLink />;
  if (url === undefined || isInLink) {
    return link.text === href ? (
      text
    ) : (
      <>
        {text} <Address text={visibleText(href)} />
      </>
    );
  }
  return (
    <>
      <a href={url.href} target="_blank" rel="noreferrer noopener">
        {text}
      </a>
      {!textNamesHost(linkText(link), url) && (
        <>
          {" "}
          <Address text={hostOf(url)} />
        </>
      )}
    </>
  );
}

function Image({ image, isInLink }: { readonly image: Tokens.Image; readonly isInLink: boolean }): ReactElement {
  const { labels } = useMarkdownContext();
  const href = withoutEntities(image.href);
  const url = safeUrl(href);
  const target = url === undefined ? visibleName(href) : hostOf(url);
  const chip = (
    <>
      <span className="md-image-kind">{labels.image}</span> {visibleLine(withoutEntities(image.text))}{" "}
      {target !== "" && <Address text={target} />}
    </>
  );
  if (url === undefined || isInLink) return <span className="md-image">{chip}</span>;
  return (
    <a className="md-image" href={url.href} target="_blank" rel="noreferrer noopener">
      {chip}
    </a>
  );
}

/** The address behind a link or image, isolated from the direction of the text around it. */
function Address({ text }: { readonly text: string }): ReactElement {
  return <bdi className="md-address">{text}</bdi>;
}

function Checkbox({ isChecked }: { readonly isChecked: boolean }): ReactElement {
  const { labels } = useMarkdownContext();
  return <input type="checkbox" checked={isChecked} disabled aria-label={isChecked ? labels.done : labels.notDone} />;
}

/** The visible text of a link. */
function linkText(token: Token): string {
  if (!isMarkedToken(token)) return token.raw;
  if (token.type === "link" && token.autolink === true) return token.text;
  if ("tokens" in token && token.tokens !== undefined) return token.tokens.map(linkText).join("");
  return "text" in token ? withoutEntities(token.text) : "";
}
