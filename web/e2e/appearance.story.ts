import { expect } from "vitest";
import { asks, write } from "./toolCalls";
import { fitsSideways, isAccessible, latinWords } from "./pageChecks";
import { story } from "./story";
import { tour } from "./tour";

for (const isDark of [false, true]) {
  story(`the ${isDark ? "dark" : "light"} page can be used by everybody`, async (world) => {
    const screen = await world.open({ isDark, bypassesPolicy: true });
    await tour(world, screen, (what) => isAccessible(screen.page, what));
  });
}

story("whoever reads Chinese finds no English on the page", async (world) => {
  const screen = await world.open({ language: "zh" });
  const names =
    "path content Pilothouse Ctrl Alt Shift Esc Enter Markdown JSON token story openai TODO README python print txt rm https example org English px Mac".split(
      " ",
    );
  await tour(world, screen, async (what) => expect(await latinWords(screen.page, names), what).toEqual([]));
  expect(await screen.page.evaluate(() => document.documentElement.lang)).toBe("zh");
});

story("on a phone everything fits, and can be used by everybody", async (world) => {
  const screen = await world.open({ width: 390, height: 844, isTouch: true, bypassesPolicy: true });
  await tour(world, screen, async (what) => {
    await fitsSideways(screen.page, what);
    await isAccessible(screen.page, what);
  });
});

story(
  "on a phone a call is approved by touch, and conversations are a drawer and a switcher",
  async ({ model, open, file }) => {
    model.answers("Aye.", asks(write("log.txt")), "Done.");
    const screen = await open({ width: 390, height: 844, isTouch: true });
    const { page } = screen;
    await screen.say("first");
    await screen.rests();
    await screen.button("show").tap();
    await screen.button("new", page.getByRole("navigation")).tap();
    await screen.choose("supervised");
    await screen.say("second");
    await screen.decision("approve").tap();
    await screen.reads("Done.");
    expect(await file("log.txt")).toBe("log.txt\n");
    await page.getByRole("button", { name: /2 open conversations/ }).tap();
    await page.getByRole("menu").getByText("first").tap();
    await screen.reads("Aye.");
    await screen.button("show").tap();
    await page.getByRole("navigation").getByText("second").tap();
    await screen.reads("Done.");
    await fitsSideways(page, "after all");
  },
);
