import { expect } from "vitest";
import { calls, write } from "./toolCalls";
import { fitsSideways, isAccessible, latinWords } from "./pageChecks";
import { story } from "./story";
import { tour } from "./tour";

for (const isDark of [false, true]) {
  story(`every screen is accessible in the ${isDark ? "dark" : "light"} theme`, async (world) => {
    const screen = await world.open({ isDark, bypassesPolicy: true });
    await tour(world, screen, (screenName) => isAccessible(screen.page, screenName));
  });
}

story("the Chinese interface contains no English words", async (world) => {
  const screen = await world.open({ language: "zh" });
  const names =
    "path content Pilothouse Ctrl Alt Shift Esc Enter Markdown JSON token story openai TODO README python print txt rm https example org English px Mac".split(
      " ",
    );
  await tour(world, screen, async (screenName) => expect(await latinWords(screen.page, names), screenName).toEqual([]));
  expect(await screen.page.evaluate(() => document.documentElement.lang)).toBe("zh");
});

story("every screen fits on a phone and is accessible there", async (world) => {
  const screen = await world.open({ width: 390, height: 844, isTouch: true, bypassesPolicy: true });
  await tour(world, screen, async (screenName) => {
    await fitsSideways(screen.page, screenName);
    await isAccessible(screen.page, screenName);
  });
});

story(
  "on a phone, calls are approved by touch, and conversations are in a drawer and a tab menu",
  async ({ model, open, file }) => {
    model.answers("Aye.", calls(write("log.txt")), "Done.");
    const screen = await open({ width: 390, height: 844, isTouch: true });
    const { page } = screen;
    await screen.sendMessage("first");
    await screen.waitUntilIdle();
    await screen.button("show").tap();
    await screen.button("new", page.getByRole("navigation")).tap();
    await screen.chooseMode("supervised");
    await screen.sendMessage("second");
    await screen.decision("approve").tap();
    await screen.waitForText("Done.");
    expect(await file("log.txt")).toBe("log.txt\n");
    await page.getByRole("button", { name: /2 open conversations/ }).tap();
    await page.getByRole("menu").getByText("first").tap();
    await screen.waitForText("Aye.");
    await screen.button("show").tap();
    await page.getByRole("navigation").getByText("second").tap();
    await screen.waitForText("Done.");
    await fitsSideways(page, "after all");
  },
);
