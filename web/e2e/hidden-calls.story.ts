import { expect } from "vitest";
import { calls, run } from "./toolCalls";
import type { Screen } from "./screen";
import { type World, story } from "./story";

const PHONE_VIEWPORT = { width: 390, height: 640 };
const UNREAD = /^Read the unread action in full/;

/** Lets three sampling intervals pass: a visible text is read after two. Shorter than the heartbeat timeout. */
const passSamplingIntervals = ({ page }: Screen) => page.clock.runFor(1_500);

/** Applies style rules to the page. The content security policy allows constructed style sheets. */
async function restyle({ page }: Screen, rules: string): Promise<void> {
  await page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
  }, rules);
}

async function openPendingCall({ model, open }: World, command: string, size: object): Promise<Screen> {
  model.answers({ ...calls(run(command)), text: "Wait.", hold: 1 }, "Done.");
  const screen = await open(size);
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await model.waitForHold();
  await screen.page.clock.install();
  return screen;
}

const HIDING_RULES = [
  ".card-body { display: none }",
  ".card-body { visibility: hidden }",
  ".card-body { opacity: 0 }",
  ".card-body { content-visibility: hidden }",
  ".card-body { height: 0; flex: none; padding: 0; overflow: hidden }",
  ".card-body { position: fixed; left: 200vw; width: 300px }",
  ".card-body { transform: scale(0) }",
  ".read-tracker { width: 0; overflow: hidden }",
  ".read-tracker { height: 0; overflow: hidden }",
  ".dock { display: none }",
];

story("a call hidden by CSS stays unread until it is visible", async (world) => {
  const { model, file } = world;
  const screen = await openPendingCall(world, "touch ran.txt", {});
  const [first = "", ...others] = HIDING_RULES;
  await restyle(screen, first);
  model.release();
  const approve = screen.page.locator(".dock .actions .button.primary");
  await approve.waitFor({ state: "attached" });
  for (const rules of [first, ...others]) {
    await restyle(screen, rules);
    await passSamplingIntervals(screen);
    expect(await approve.getAttribute("title"), rules).toMatch(UNREAD);
  }
  await screen.page.emulateMedia({ media: "print" });
  await restyle(screen, "");
  await passSamplingIntervals(screen);
  expect(await approve.getAttribute("title"), "print").toMatch(UNREAD);
  await screen.page.emulateMedia({ media: "screen" });
  await screen.waitUntilReady(approve);
  await approve.click();
  await screen.waitForText("Done.");
  expect(await file("ran.txt")).toBe("");
});

story("rule options that cover the call on a phone leave it unread, and lead back to it", async (world) => {
  const { model, file } = world;
  const lines = Array.from({ length: 11 }, (_, index) => `echo line ${index}`).join("\n");
  const screen = await openPendingCall(world, `${lines}\ntouch ran.txt`, PHONE_VIEWPORT);
  model.release();
  await screen.waitUntilReady(screen.decision("reject"));
  const approve = screen.decision("approve");
  expect(await approve.getAttribute("title")).toMatch(UNREAD);
  await screen.decision("always").click();
  const giveRule = screen.decision("alwaysGive");
  await giveRule.waitFor();
  await screen.dock.locator(".card-body").waitFor({ state: "hidden" });
  await passSamplingIntervals(screen);
  expect(await giveRule.getAttribute("title")).toMatch(UNREAD);
  await giveRule.click({ force: true });
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.readCalls();
  await screen.waitUntilReady(screen.decision("approve"));
  await screen.decision("approve").click();
  await screen.waitForText("Done.");
  expect(await file("ran.txt")).toBe("");
});

for (const [where, size] of Object.entries({ "on a desktop": {}, "on a phone": PHONE_VIEWPORT }))
  story(`the hint about unread lines is above the buttons and does not move them ${where}`, async (world) => {
    const screen = await openPendingCall(
      world,
      Array.from({ length: 60 }, (_, index) => `echo ${index}`).join("\n"),
      size,
    );
    world.model.release();
    await screen.waitUntilReady(screen.decision("reject"));
    const approve = screen.decision("approve");
    const hint = screen.dock.locator(".unread-hint");
    await hint.getByText(/lines are unread/).waitFor();
    const boxes = async () => ({
      card: await screen.dock.locator(".card").boundingBox(),
      approve: await approve.boundingBox(),
      reject: await screen.decision("reject").boundingBox(),
    });
    const before = await boxes();
    const hintBox = await hint.boundingBox();
    expect((hintBox?.y ?? Infinity) + (hintBox?.height ?? 0)).toBeLessThanOrEqual(before.approve?.y ?? 0);
    await screen.readCalls();
    await screen.waitUntilReady(approve);
    await hint.waitFor({ state: "detached" });
    expect(await boxes()).toEqual(before);
  });
