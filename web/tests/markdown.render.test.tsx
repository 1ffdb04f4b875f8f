/** The rendered elements of an answer: no raw HTML, no loaded resources, no misleading links. */
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { Markdown, type MarkdownLabels } from "../src/features/chat/markdown/Markdown";

const labels: MarkdownLabels = {
  copy: "Copy",
  copied: "Copied",
  copyTable: "Copy table",
  wrap: "Wrap",
  download: "Download",
  showAll: "Show all {n} lines",
  code: "Code",
  table: "Table",
  image: "Image",
  done: "Done",
  notDone: "Not done",
};

function shown(text: string, isStreaming = false): string {
  const html = renderToStaticMarkup(<Markdown text={text} isStreaming={isStreaming} labels={labels} />);
  return html.replace(/^<div class="md">/, "").replace(/<\/div>$/, "");
}

const A = (href: string, text: string) => `<a href="${href}" target="_blank" rel="noreferrer noopener">${text}</a>`;
const HOST = (host: string) => ` <bdi class="md-address">${host}</bdi>`;

test.each([
  ["# One", "<h3>One</h3>"],
  ["###### Six", "<h6>Six</h6>"],
  ["a **b** *c* ~~d~~ `e<f`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e&lt;f</code></p>"],
  ["&amp; &copy; &#65; &unknown; \\&amp; `&amp;`", "<p>&amp; © A &amp;unknown; &amp;amp; <code>&amp;amp;</code></p>"],
  ["a\\\nb<br>c", "<p>a<br/>b<br/>c</p>"],
  ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
  ["- a\n  - b\n- c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"],
  ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
  ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
  ["a\n\n---\n\nb", "<p>a</p><hr/><p>b</p>"],
  [
    "- [x] a\n- [ ] b",
    '<ul><li class="md-task"><input type="checkbox" disabled="" aria-label="Done" checked=""/>a</li><li class="md-task"><input type="checkbox" disabled="" aria-label="Not done"/>b</li></ul>',
  ],
])("%j", (text, html) => {
  expect(shown(text)).toBe(html);
});

describe("links", () => {
  test.each([
    ["[google.com](http://evil.example)", A("http://evil.example/", "google.com") + HOST("evil.example")],
    [
      "[evil.example is google.com](http://evil.example)",
      A("http://evil.example/", "evil.example is google.com") + HOST("evil.example"),
    ],
    [
      "[https://google.com/?evil.example](http://evil.example)",
      A("http://evil.example/", "https://google.com/?evil.example") + HOST("evil.example"),
    ],
    [
      "[google.com/a](https://google.com@evil.example/)",
      A("https://google.com@evil.example/", "google.com/a") + HOST("evil.example"),
    ],
    [
      "[google.com](https://google.com.evil.example)",
      A("https://google.com.evil.example/", "google.com") + HOST("google.com.evil.example"),
    ],
    ["[аpple.com](https://аpple.com)", A("https://xn--pple-43d.com/", "аpple.com") + HOST("xn--pple-43d.com")],
    ["[a.example/path](https://a.example/path)", A("https://a.example/path", "a.example/path")],
    ["<https://a.example/x>", A("https://a.example/x", "https://a.example/x")],
    ["https://a.example/?a=1&b=2", A("https://a.example/?a=1&amp;b=2", "https://a.example/?a=1&amp;b=2")],
    ["[m](mailto:a@b.example)", A("mailto:a@b.example", "m") + HOST("a@b.example")],
    ["<a@b.example>", A("mailto:a@b.example", "a@b.example")],
    ["[r]\n\n[r]: https://r.example", A("https://r.example/", "r") + HOST("r.example")],
    ["[x](javascript:alert(1))", "x" + HOST("javascript:alert(1)")],
    ["[x](<java\tscript:alert(1)>)", "x" + HOST("java\tscript:alert(1)")],
    ["[x](data:text/html,hi)", "x" + HOST("data:text/html,hi")],
    ["[x](vbscript:a)", "x" + HOST("vbscript:a")],
    ["[src/a.py](src/a.py)", "src/a.py"],
    ["[a](/api/delete)", "a" + HOST("/api/delete")],
    ["[a](//evil.example)", "a" + HOST("//evil.example")],
  ])("%j", (text, html) => {
    expect(shown(text)).toBe(`<p>${html}</p>`);
  });
});

describe("images are never loaded", () => {
  const KIND = '<span class="md-image-kind">Image</span>';
  test.each([
    [
      "![alt](https://i.example/a.png)",
      `<a class="md-image" href="https://i.example/a.png" target="_blank" rel="noreferrer noopener">${KIND} alt <bdi class="md-address">i.example</bdi></a>`,
    ],
    [
      "![alt](data:image/png;base64,AAAA)",
      `<span class="md-image">${KIND} alt <bdi class="md-address">data:image/png;base64,AAAA</bdi></span>`,
    ],
    [
      "[![b](https://i.example/b.svg)](https://a.example)",
      A("https://a.example/", `<span class="md-image">${KIND} b <bdi class="md-address">i.example</bdi></span>`) +
        HOST("a.example"),
    ],
  ])("%j", (text, html) => {
    expect(shown(text)).toBe(`<p>${html}</p>`);
  });
});

describe("HTML is shown as text", () => {
  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<style>*{display:none}</style>",
    "<iframe src=//x>",
    "a <b onclick=x>b</b>",
    "<svg/onload=alert(1)>",
    "<!-- c -->",
  ])("%j", (text) => {
    const html = shown(text);
    expect(html).not.toMatch(/<(?!\/?p[ >])/);
    expect(
      html
        .replace(/<[^>]+>/g, "")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">"),
    ).toBe(text);
  });
});

test("a table has its alignment, its inline syntax and a copy button", () => {
  const html = shown("| a | b |\n|:-:|--:|\n| `x` | **y**<br>z |");
  expect(html).toContain('<th scope="col" class="md-center">a</th><th scope="col" class="md-right">b</th>');
  expect(html).toContain('<td class="md-right"><strong>y</strong><br/>z</td>');
  expect(html).toContain("Copy table</button>");
});

describe("code", () => {
  test("shows its language, its buttons and the exact text", () => {
    const html = shown('```ts title="a.ts"\nlet a = `<b>` && 1;\n```');
    expect(html).toContain('<span class="md-language">ts</span>');
    expect(html.match(/<button[^>]*>[^<]*/g)?.map((button) => button.replace(/.*>/, ""))).toEqual([
      "Wrap",
      "Download",
      "Copy",
    ]);
    expect(html).toContain("<pre><code>let a = `&lt;b&gt;` &amp;&amp; 1;</code></pre>");
  });

  test("prose shows hidden characters, also from entities, and keeps joiners in emoji and Persian", () => {
    expect(shown("a\u202eb **c\u200bd** [e\u2066](https://x.example) &#x202e;f")).toMatch(
      /a⟨U\+202E⟩b.*c⟨U\+200B⟩d.*e⟨U\+2066⟩.*⟨U\+202E⟩f/s,
    );
    expect(shown("👩\u200d💻 می\u200cخواهم 10\u00a0km")).toContain("👩\u200d💻 می\u200cخواهم 10\u00a0km");
  });

  test("shows hidden characters", () => {
    expect(shown("```\na\u202eb\u200bc\n```")).toContain("a⟨U+202E⟩b⟨U+200B⟩c");
    expect(shown("`a\u202eb`")).toContain("<code>a⟨U+202E⟩b</code>");
  });

  test("is cut after 400 lines", () => {
    const html = shown(`\`\`\`\n${"line\n".repeat(1_200)}\`\`\``);
    expect(html).toContain("Show all 1,200 lines");
    expect(html.match(/line\n|line</g)).toHaveLength(400);
  });

  test("is cut after many characters", () => {
    expect(shown(`\`\`\`\n${"x".repeat(1_000_000)}\n\`\`\``).length).toBeLessThan(100_000);
  });
});
