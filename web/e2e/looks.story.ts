import { expect } from "vitest";
import { fitsSideways, isAccessible, latinWords } from "./looking";
import { story } from "./story";
import { tour } from "./tour";

for (const isDark of [false, true]) {
  story(`the ${isDark ? "dark" : "light"} page can be used by everybody`, async (world) => {
    const screen = await world.open({ isDark, bypassesPolicy: true });
    await tour(world, screen, (what) => isAccessible(screen.page, what));
    await screen.page.setViewportSize({ width: 390, height: 844 });
    await isAccessible(screen.page, "phone");
  });
}

story("whoever reads Chinese finds no English on the page", async (world) => {
  const screen = await world.open({ language: "zh" });
  const names = "Pilothouse Ctrl Alt Shift Esc Enter Markdown JSON token story openai TODO README python print txt rm https example org supervised agent English px Mac".split(" ");
  await tour(world, screen, async (what) => expect(await latinWords(screen.page, names), what).toEqual([]));
  expect(await screen.page.evaluate(() => document.documentElement.lang)).toBe("zh");
});

story("on a phone everything fits, can be reached by touch, and conversations are a drawer", async (world) => {
  const screen = await world.open({ width: 390, height: 844, isTouch: true });
  await tour(world, screen, (what) => fitsSideways(screen.page, what));
  await screen.button("show").tap();
  await screen.page.getByRole("navigation").getByText("Show me everything").waitFor();
  await fitsSideways(screen.page, "drawer");
});
