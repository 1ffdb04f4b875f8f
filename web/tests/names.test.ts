import fc from "fast-check";
import { expect, test } from "vitest";
import { toolName, visibleName, visibleText } from "../src/ui/names";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const anyText = fc.string({ unit: "binary" });

test("a tool of a server stands behind the server's name", () => {
  expect(toolName({ tool: "github__list_open-issues", display_name: "Github List Open Issues" })).toBe(
    "github · List Open Issues",
  );
  expect(toolName({ tool: "read_file", display_name: "Read File" })).toBe("Read File");
  expect(toolName({ tool: "__odd", display_name: "Odd" })).toBe("Odd");
  expect(toolName({ tool: "文件__读取", display_name: "" })).toBe("文件 · 读取");
});

test("a character that turns the rest of a command around is shown as what it is", () => {
  expect(visibleText("echo \u202Egnp.exe\u0000")).toBe("echo \\u{202e}gnp.exe\\u{0}");
  expect(visibleText("one\n\ttwo 👩‍💻 🛡️ 你好")).toBe("one\n\ttwo 👩‍💻 🛡️ 你好");
});

test("no text hides anything, and none of it is lost", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = visibleText(text);
      expect(HIDDEN.test(shown.replace(/[\n\t]/g, "").replace(/\p{So}[\u200d\ufe0f]+/gu, ""))).toBe(false);
      expect(visibleText(shown)).toBe(shown);
      const read = shown.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));
      expect(read).toBe(
        text.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16))),
      );
    }),
  );
});

test("a name is one line that one can read, whatever a server calls its tools", () => {
  fc.assert(
    fc.property(anyText, anyText, (tool, display_name) => {
      for (const name of [toolName({ tool, display_name }), visibleName(tool)]) {
        expect([...name].length).toBeLessThanOrEqual(80);
        expect(/[\n\t\r]/.test(name)).toBe(false);
      }
    }),
  );
});
