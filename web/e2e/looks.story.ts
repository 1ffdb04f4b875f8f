import { expect } from "vitest";
import { fitsSideways, isAccessible, latinWords } from "./looking";
import { type World, story } from "./story";
import type { Screen } from "./screen";

const rich = (title: string, text: string) =>
  [
    `# ${title}\n\n**${text}** [${text}](https://example.org/) \`code\`\n`,
    "```python\nprint('north')\n```\n",
    `| ${title} | ${text} |\n|---|---|\n| ${text} | 12 |\n`,
    `1. ${title}\n2. ${text}\n\n> ${text}\n`,
  ].join("\n");

/** A conversation with everything that an answer can have, and a call that ran. */
async function talk(model: World["model"], screen: Screen): Promise<void> {
  const [said, text] = screen.language === "zh" ? ["看一看", rich("航向", "北方")] : ["Show me everything", rich("Course", "north")];
  model.answers({ text, calls: [{ tool: "list_directory", arguments: { path: "." } }] }, text);
  await screen.say(said);
  await model.asked(2);
  await screen.rests();
}

for (const isDark of [false, true]) {
  story(`the ${isDark ? "dark" : "light"} page can be used by everybody`, async ({ model, open }) => {
    const screen = await open({ isDark, bypassesPolicy: true });
    await isAccessible(screen.page);
    await screen.mode.click();
    await isAccessible(screen.page);
    await screen.page.keyboard.press("Escape");
    await talk(model, screen);
    await isAccessible(screen.page);
    await screen.page.setViewportSize({ width: 390, height: 844 });
    await isAccessible(screen.page);
  });
}

story("whoever reads Chinese finds no English on the page", async ({ model, open }) => {
  const screen = await open({ language: "zh" });
  const allowed = ["Pilothouse", "Ctrl", "Alt", "Shift", "token", "story", "openai", "TODO", "README"];
  expect(await latinWords(screen.page, allowed)).toEqual([]);
  await screen.mode.click();
  expect(await latinWords(screen.page, allowed)).toEqual([]);
  await screen.page.keyboard.press("Escape");
  await talk(model, screen);
  expect(await screen.page.evaluate(() => document.documentElement.lang)).toBe("zh");
  expect(await latinWords(screen.page, allowed)).toEqual([]);
});

story("on a phone everything fits and the conversations are a drawer", async ({ model, open }) => {
  const screen = await open({ width: 390, height: 844, isTouch: true });
  await fitsSideways(screen.page);
  await talk(model, screen);
  await fitsSideways(screen.page);
  await screen.mode.tap();
  await fitsSideways(screen.page);
  await screen.entry("plan").tap();
  await screen.isMode("plan");
  await screen.page.getByRole("button", { name: "Show the conversations" }).tap();
  await screen.page.getByRole("navigation").getByText("Show me everything").waitFor();
  await fitsSideways(screen.page);
});
