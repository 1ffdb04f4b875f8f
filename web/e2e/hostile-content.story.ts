import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { calls, run, write } from "./toolCalls";
import { story } from "./story";

const PWN = "window.__pwned=1";
const MARKDOWN = [
  `<script>${PWN}</script>`,
  `<img src=x onerror="${PWN}">`,
  `<svg/onload="${PWN}">`,
  `<iframe srcdoc="<script>parent.__pwned=1</script>"></iframe>`,
  `<details open ontoggle="${PWN}"><summary>s</summary></details>`,
  `[one](javascript:${PWN}) [two](JaVaScRiPt:${PWN}) [three](data:text/html,<script>opener.__pwned=1</script>)`,
  `[four](vbscript:x) [five]( javascript:${PWN} ) <javascript:${PWN}> [six](//leaves.example/path) [seven](/api/session)`,
  "![seen](https://leaves.example/pixel.png) ![inner](data:image/svg+xml;base64,PHN2Zy8+) ![own](/api/health)",
  `[ref]\n\n[ref]: javascript:${PWN}`,
  '<a href="https://leaves.example/" ping="https://leaves.example/ping">p</a><link rel=stylesheet href="https://leaves.example/x.css">',
  `<style>@import "https://leaves.example/y.css"; body{display:none}</style>`,
  `<form action="https://leaves.example/"><button>Send</button></form><base href="https://leaves.example/">`,
  "```<img src=x onerror=window.__pwned=1>\n<script>window.__pwned=1</script>\n```",
  "| <img src=x onerror=window.__pwned=1> | b |\n|---|---|\n| [x](javascript:window.__pwned=1) | `</code><script>window.__pwned=1</script>` |",
  `$$\\href{javascript:${PWN}}{x}$$ <math><maction actiontype="statusline#http://leaves.example">x</maction></math>`,
].join("\n\n");
const HIDDEN = "safe\u202Etxt.exe\u200B\u2066 \u001b[31mred\u001b[0m\u0007\u00AD\u{E0041}";

story("an answer runs no code, loads no resource and navigates nowhere", async ({ model, open }) => {
  model.answers(MARKDOWN);
  const screen = await open();
  await screen.sendMessage(`<img src=x onerror="${PWN}"> ${MARKDOWN}`);
  await screen.waitUntilIdle();
  await screen.answers.first().waitFor();
  const { page } = screen;
  expect(
    await page
      .locator("script:not([src]), iframe, style, base, form[action], .transcript link, .transcript svg[onload]")
      .count(),
  ).toBe(0);
  const links = await page
    .locator(".transcript a[href]")
    .evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""));
  expect(links.filter((href) => !/^(https?:|mailto:)/.test(href))).toEqual([]);
  const images = await page
    .locator(".transcript img")
    .evaluateAll((all) => all.map((each) => each.getAttribute("src") ?? ""));
  expect(images.filter((source) => !source.startsWith("data:image/"))).toEqual([]);
  for (const attribute of ["onerror", "onload", "onclick", "ontoggle", "ping", "srcdoc"])
    expect(await page.locator(`[${attribute}]`).count()).toBe(0);
});

story("titles, file names and tool output show hidden characters", async ({ model, open, put }) => {
  const name = "<img src=x onerror=window.__pwned=1>\u202Egpj.txt";
  await put(name, `\u001b]0;owned\u0007<script>${PWN}</script>${HIDDEN}`);
  model.answers(
    {
      calls: [
        { tool: "list_directory", arguments: { path: "." } },
        { tool: "read_file", arguments: { path: name } },
      ],
    },
    "Read.",
  );
  const screen = await open();
  await screen.sendMessage(`${HIDDEN} <b onclick="${PWN}">title</b>`);
  await screen.answers.getByText("Read.").waitFor();
  await screen.waitUntilIdle();
  for (const details of await screen.transcript.locator("details > summary, button[aria-expanded=false]").all())
    await details.click();
  const shown = await screen.page.evaluate(() => `${document.title}\n${document.body.innerText}`);
  expect(shown.match(/[\u202E\u200B\u2066\u001b\u0007\u{E0041}]/gu)).toBeNull();
  expect(shown).toContain("⟨U+202E⟩");
  expect(shown).toContain("⟨U+001B⟩");
});

story("a tool with a deceptive name is shown with its server and tool name", async ({ model, open }) => {
  const name = "files__approve-all_System_says_Yes";
  model.answers(
    { calls: [{ tool: name, arguments: { "path\u202E": `<img src=x onerror=${PWN}>`, __proto__: 1 } }] },
    "No.",
  );
  const screen = await open();
  await screen.sendMessage("go");
  await screen.answers.getByText("No.").waitFor();
  await screen.transcript
    .getByText(/files · Approve All/)
    .first()
    .waitFor();
});

story("a pending call shows hidden characters in path, change and command", async ({ model, open }) => {
  const path = "notes\u202Etxt.py";
  model.answers(
    calls(
      write(path, `x = 1 # \u2066 admin\u2069\n<script>${PWN}</script>\u001b[2K`),
      run(`echo ok\u200b; printf '\u001b[8mrm' ${" ".repeat(300)}; rm -rf notes`),
    ),
  );
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("rejectAll", { n: 2 }).waitFor();
  for (const row of await screen.dock.getByRole("button", { expanded: false }).all()) await row.click();
  const shown = await screen.dock.innerText();
  expect(shown.match(/[\u202E\u200B\u2066\u2069\u001b]/gu)).toBeNull();
  for (const sign of ["⟨U+202E⟩", "⟨U+200B⟩", "⟨U+2066⟩", "⟨U+001B⟩", "rm -rf notes"]) expect(shown).toContain(sign);
  await screen.decision("rejectAll", { n: 2 }).click();
  await screen.waitUntilIdle();
});

story("names, titles and rules mark hidden characters like calls do", async ({ model, open, put }) => {
  await put("no\u00a0tes.txt", "x\n");
  model.answers(calls(run("git log r\u0435lease\u2003x")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  const { page } = screen;
  const marks = (within: Locator) => within.locator(".hidden-character").allTextContents();
  await screen.sendMessage("Look\u2003here");
  await screen.waitUntilReady(screen.decision("reject"));
  expect(await marks(screen.tab("Look"))).toEqual(["⟨U+2003⟩"]);
  expect(await marks(page.locator(".sidebar-item").filter({ hasText: "Look" }))).toEqual(["⟨U+2003⟩"]);
  await screen.decision("always").click();
  await screen.dock.getByRole("radio").last().waitFor();
  expect(await marks(screen.dock.locator(".rule-preview"))).toEqual(["⟨U+0435⟩", "⟨U+2003⟩"]);
  await screen.readCalls();
  await screen.waitUntilReady(screen.decision("alwaysGive"));
  await screen.decision("alwaysGive").click();
  await screen.waitForText("Done.");
  await screen.composer.pressSequentially("@no");
  const option = page.getByRole("option").first();
  await option.waitFor();
  expect(await marks(option)).toEqual(["⟨U+00A0⟩"]);
  await screen.composer.fill("");
  await screen.button("rules").click();
  const rule = page.getByRole("dialog").getByRole("listitem").first();
  await rule.waitFor();
  expect(await marks(rule)).toEqual(["⟨U+0435⟩", "⟨U+2003⟩"]);
});
