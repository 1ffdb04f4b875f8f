import { expect } from "vitest";
import { fitsSideways, isAccessible, latinWords } from "./looking";
import { type World, story } from "./story";
import type { Screen } from "./screen";

const RICH = [
  "# Course\n\nA **bold** word, a [link](https://example.org/), `code`.\n",
  "```python\nprint('north')\n```\n",
  "| place | depth |\n|---|---|\n| bay | 12 |\n",
  "1. one\n2. two\n\n> said before\n",
].join("\n");

/** A conversation with everything that an answer can have, and a call that ran. */
async function rich(model: World["model"], screen: Screen): Promise<void> {
  model.answers({ text: RICH, calls: [{ tool: "list_directory", arguments: { path: "." } }] }, RICH);
  await screen.say("Show me everything");
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
    await rich(model, screen);
    await isAccessible(screen.page);
    await screen.page.setViewportSize({ width: 390, height: 844 });
    await isAccessible(screen.page);
  });
}

story("whoever reads Chinese finds no English on the page", async ({ model, open }) => {
  const screen = await open({ language: "zh" });
  const allowed = ["Pilothouse", "Ctrl", "story", "openai", "Show", "me", "everything"];
  expect(await latinWords(screen.page, allowed)).toEqual([]);
  await screen.mode.click();
  expect(await latinWords(screen.page, allowed)).toEqual([]);
  await screen.page.keyboard.press("Escape");
  await rich(model, screen);
  expect(await screen.page.evaluate(() => document.documentElement.lang)).toBe("zh");
  expect(await latinWords(screen.page, allowed)).toEqual([]);
});

story("on a phone everything fits and the conversations are a drawer", async ({ model, open }) => {
  const screen = await open({ width: 390, height: 844, isTouch: true });
  await fitsSideways(screen.page);
  await rich(model, screen);
  await fitsSideways(screen.page);
  await screen.mode.tap();
  await fitsSideways(screen.page);
  await screen.entry("plan").tap();
  await screen.isMode("plan");
  await screen.page.getByRole("button", { name: "Show the conversations" }).tap();
  await screen.page.getByRole("navigation").getByText("Show me everything").waitFor();
  await fitsSideways(screen.page);
});
