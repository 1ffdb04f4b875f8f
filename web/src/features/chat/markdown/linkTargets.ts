/** The allowed targets of links, and the part of a target that must be visible. */

const SCHEMES = ["http:", "https:", "mailto:"];

/** An absolute web or mail address. Relative addresses and other schemes are not links. */
export function safeUrl(href: string): URL | undefined {
  const url = URL.parse(href);
  return url !== null && SCHEMES.includes(url.protocol) ? url : undefined;
}

/** The host of a web address, or the recipient of a mail address. */
export function hostOf(url: URL): string {
  return url.protocol === "mailto:" ? decoded(url.pathname) : url.host;
}

/** Whether the link's text names its real host and nothing else: `google.com` must not lead to `evil.example`. */
export function textNamesHost(text: string, url: URL): boolean {
  const label = text.trim().toLowerCase();
  const host = hostOf(url).toLowerCase();
  if (url.protocol === "mailto:") return label.replace(/^mailto:/, "") === host;
  const labelWithoutScheme = label.replace(/^https?:\/\//, "");
  return [host, host.replace(/^www\./, "")].some(
    (name) => labelWithoutScheme === name || /^[/?#]/.test(withoutPrefix(labelWithoutScheme, name)),
  );
}

function withoutPrefix(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : "";
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
