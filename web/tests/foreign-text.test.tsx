/** Text that is approved is displayed exactly. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ForeignText, Lookalikes } from "../src/ui/ForeignText";

test("a lookalike letter is shown with its code point", () => {
  const html = renderToStaticMarkup(
    <Lookalikes value={"\u0441"}>
      <ForeignText text={"\u0441url\u00a0x \u0430"} />
    </Lookalikes>,
  );
  expect(html).toBe(
    '\u0441<span class="hidden-character">⟨U+0441⟩</span>url<span class="hidden-character">⟨U+00A0⟩</span>x \u0430',
  );
});

/** Prose that users do not decide by, and parsers of the user's own input. */
const PROSE = [
  "features/chat/SystemNotice.tsx",
  "features/chat/composer/references.ts",
  "features/chat/markdown/codePreview.ts",
  "features/chat/markdown/inline.tsx",
  "features/chat/useAnswerAnnouncement.ts",
  "features/chat/user-message/UserMessageText.tsx",
  "features/tool-calls/CallDetails.tsx", // output of a command
  "ui/safeText.ts",
];

test("only prose may be displayed without writing out nonstandard blanks", () => {
  const root = join(import.meta.dirname, "../src");
  const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const lenient = sources.filter((name) => readFileSync(join(root, name), "utf8").includes("visibleText("));
  expect(lenient.sort()).toEqual(PROSE);
});

test("our sentences mark hidden characters of names and isolate right-to-left text", () => {
  const html = renderToStaticMarkup(<ForeignText text={"Open \u05d0\u05d1 r\u0435⟨U+0435⟩ad"} />);
  expect(html).toBe('Open <bdi>\u05d0\u05d1</bdi> r\u0435<span class="hidden-character">⟨U+0435⟩</span>ad');
});
