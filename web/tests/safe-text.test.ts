import fc from "fast-check";
import { expect, test } from "vitest";
import {
  exactName,
  exactPath,
  exactText,
  toolName,
  visibleLine,
  visibleName,
  visibleText,
  annotateWithCodes,
} from "../src/ui/safeText";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const anyText = fc.string({ unit: "binary" });

test("an MCP tool is prefixed with its server's name", () => {
  expect(toolName({ tool: "github__list_open-issues", display_name: "Github List Open Issues" })).toBe(
    "github · List Open Issues",
  );
  expect(toolName({ tool: "read_file", display_name: "Read File" })).toBe("Read File");
  expect(toolName({ tool: "__odd", display_name: "Odd" })).toBe("Odd");
  expect(toolName({ tool: "文件__读取", display_name: "" })).toBe("文件 · 读取");
});

test("a bidirectional control in a command is written out", () => {
  expect(visibleText("echo \u202Egnp.exe\u0000")).toBe("echo ⟨U+202E⟩gnp.exe⟨U+0000⟩");
  expect(visibleText("one\n\ttwo 👩‍💻 🛡️ 你好")).toBe("one\n\ttwo 👩‍💻 🛡️ 你好");
});

test("joiners are kept only in emoji, Persian and Indic text", () => {
  for (const text of [
    "می\u200cخواهم",
    "क्\u200dष",
    "👩\u200d💻",
    "🏳\ufe0f\u200d🌈",
    "👩🏽\u200d💻",
    "1\ufe0f\u20e3",
    "❤\ufe0f",
    "ന്\u200d",
    "র\u200d্য",
    "ភ\u200bខ",
    "葛\u{e0100}",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ])
    expect([visibleText(text), exactText(text)]).toEqual([text, text]);
  for (const text of [
    ...["x\u200dy", "👩\u200dx", "👩\ufe0f\ufe0f", "a\u200cم", "\u200c", ">\u200d> f", "~\ufe0f/x"],
    ...["ب\u200dب", "a\u094d\u200cb", "\u094d\u200d/x", "x\ufe0f\u20e3", "ភ\u200bx", "a\u{e0100}"],
    "🏴\u{e0072}\u{e006d}\u{e007f}",
  ])
    expect(visibleText(text)).toContain("⟨U+");
});

test("exact text writes out nonstandard blanks, and long runs with their length", () => {
  expect(exactText("rm\u00a0-rf\u3000x\ty\nz")).toBe("rm⟨U+00A0⟩-rf⟨U+3000⟩x\ty\nz");
  expect(visibleText("10\u00a0km\u3000x")).toBe("10\u00a0km\u3000x");
  expect(exactText("rm\u{1d159}-rf x")).toBe("rm⟨U+1D159⟩-rf x");
  expect(annotateWithCodes("\u0441url x/\u0430 \u{1d5cb}", "\u0441\u{1d5cb}")).toBe(
    "\u0441⟨U+0441⟩url x/\u0430 \u{1d5cb}⟨U+1D5CB⟩",
  );
  expect(exactText(`echo ok${"\u2003".repeat(2_100)}; rm x`)).toBe("echo ok⟨U+2003 ×2100⟩; rm x");
  expect(exactText(`a${"\u{e0041}".repeat(9)}b`)).toBe("a⟨U+E0041 ×9⟩b");
});

test("visible text has no hidden characters and loses nothing", () => {
  const withoutCodes = (text: string) =>
    text.replace(/⟨U\+([0-9A-F]{4,6})(?: ×(\d+))?⟩/g, (_, code: string, count?: string) =>
      String.fromCodePoint(parseInt(code, 16)).repeat(Number(count ?? 1)),
    );
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = exactText(text);
      const joined =
        /(?<=[\p{So}\p{Sm}\p{M}\p{L}\u203c\u2049\u3030\u303d\u{1f3fb}-\u{1f3ff}]|^.)[\u200c\u200d\ufe0e\ufe0f]/gu;
      expect(HIDDEN.test(shown.replace(/[\n\t]/g, "").replace(joined, ""))).toBe(false);
      expect(exactText(shown)).toBe(shown);
      expect(withoutCodes(shown)).toBe(withoutCodes(text));
    }),
  );
});

test("a tool name is one readable line, whatever the server calls it", () => {
  fc.assert(
    fc.property(anyText, anyText, (tool, display_name) => {
      for (const name of [toolName({ tool, display_name }), visibleName(tool)]) {
        expect([...name].length).toBeLessThanOrEqual(80);
        expect(/[\n\t\r]/.test(name)).toBe(false);
      }
    }),
  );
});

test("a path shows outer and repeated blanks, line ends and hidden characters", () => {
  expect(exactPath("src/main.py")).toBe("src/main.py");
  expect(exactPath("my notes.txt")).toBe("my notes.txt");
  expect(exactPath(" a.txt ")).toBe("⟨U+0020⟩a.txt⟨U+0020⟩");
  expect(exactPath("a  b\nc\t")).toBe("a⟨U+0020⟩⟨U+0020⟩b⟨U+000A⟩c⟨U+0009⟩");
  expect(exactPath("a\u200b\u00a0b")).toBe("a⟨U+200B⟩⟨U+00A0⟩b");
});

test("a name shows nonstandard blanks and lookalike letters", () => {
  expect(visibleName("my\u00a0server")).toBe("my⟨U+00A0⟩server");
  expect(visibleName("build\u3000")).toBe("build⟨U+3000⟩");
  expect(visibleName("a  b\n")).toBe("a⟨U+0020⟩⟨U+0020⟩b⟨U+000A⟩");
  expect(visibleName("r\u0435ad")).toBe("r\u0435⟨U+0435⟩ad"); // a Cyrillic letter
  expect(visibleName("\uff47it \u{1d5cb}m")).toBe("\uff47⟨U+FF47⟩it \u{1d5cb}⟨U+1D5CB⟩m");
  expect(exactName("src\u2215main")).toBe("src\u2215⟨U+2215⟩main");
  expect(visibleLine("Merge\u2003the\n  branches ")).toBe("Merge⟨U+2003⟩the branches");
});

test("ordinary names of any language stay as they are", () => {
  for (const name of [
    "港口工具",
    "用git提交.txt",
    "Отчёт за май.docx",
    "Ελληνικά",
    "naïve café",
    "nº 3",
    "שלום",
    "日本語のREADME",
  ])
    expect(visibleName(name)).toBe(name);
});

test("a non-ASCII tool name keeps every letter", () => {
  expect(toolName({ tool: "files__r\u0435ad", display_name: "" })).toBe("files · r\u0435⟨U+0435⟩ad");
});

test("an annotated character is not annotated again", () => {
  expect(annotateWithCodes("r\u0435⟨U+0435⟩ad", "\u0435")).toBe("r\u0435⟨U+0435⟩ad");
});
