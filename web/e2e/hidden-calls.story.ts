import { expect } from "vitest";
import { asks, run } from "./toolCalls";
import type { Screen } from "./screen";
import { type World, story } from "./story";

const PHONE = { width: 390, height: 640 };
const UNREAD = /^Read the unread action in full/;

/** Lets three sampling intervals pass: a visible text is read after two. Shorter than the heartbeat timeout. */
const looks = ({ page }: Screen) => page.clock.runFor(1_500);

/** Applies style rules to the page. The content security policy allows constructed style sheets. */
async function restyle({ page }: Screen, rules: string): Promise<void> {
  await page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
  }, rules);
}

async function waits({ model, open }: World, command: string, size: object): Promise<Screen> {
  model.answers({ ...asks(run(command)), text: "Wait.", hold: 1 }, "Done.");
  const screen = await open(size);
  await screen.choose("supervised");
  await screen.say("go");
  await model.held();
  await screen.page.clock.install();
  return screen;
}

const HIDING = [
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

story("a call that is hidden in whatever way is unread until it is shown", async (world) => {
  const { model, file } = world;
  const screen = await waits(world, "touch ran.txt", {});
  const [first = "", ...others] = HIDING;
  await restyle(screen, first);
  model.release();
  const approve = screen.page.locator(".dock .actions .button.primary");
  await approve.waitFor({ state: "attached" });
  for (const rules of [first, ...others]) {
    await restyle(screen, rules);
    await looks(screen);
    expect(await approve.getAttribute("title"), rules).toMatch(UNREAD);
  }
  await screen.page.emulateMedia({ media: "print" });
  await restyle(screen, "");
  await looks(screen);
  expect(await approve.getAttribute("title"), "print").toMatch(UNREAD);
  await screen.page.emulateMedia({ media: "screen" });
  await screen.isReady(approve);
  await approve.click();
  await screen.reads("Done.");
  expect(await file("ran.txt")).toBe("");
});

story("the rules that hide a call on a phone leave it unread, and lead back to it", async (world) => {
  const { model, file } = world;
  const lines = Array.from({ length: 11 }, (_, index) => `echo line ${index}`).join("\n");
  const screen = await waits(world, `${lines}\ntouch ran.txt`, PHONE);
  model.release();
  await screen.isReady(screen.decision("reject"));
  const title = screen.decision("approve");
  expect(await title.getAttribute("title")).toMatch(UNREAD);
  await screen.decision("always").click();
  const give = screen.decision("alwaysGive");
  await give.waitFor();
  await screen.dock.locator(".card-body").waitFor({ state: "hidden" });
  await looks(screen);
  expect(await give.getAttribute("title")).toMatch(UNREAD);
  await give.click({ force: true });
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.readsCalls();
  await screen.isReady(screen.decision("approve"));
  await screen.decision("approve").click();
  await screen.reads("Done.");
  expect(await file("ran.txt")).toBe("");
});

for (const [where, size] of Object.entries({ "on a desktop": {}, "on a phone": PHONE }))
  story(`the hint about unread lines stands above the buttons, which it does not move ${where}`, async (world) => {
    const screen = await waits(world, Array.from({ length: 60 }, (_, index) => `echo ${index}`).join("\n"), size);
    world.model.release();
    await screen.isReady(screen.decision("reject"));
    const approve = screen.decision("approve");
    const hint = screen.dock.locator(".unread-hint");
    await hint.getByText(/lines are unread/).waitFor();
    const places = async () => ({
      card: await screen.dock.locator(".card").boundingBox(),
      approve: await approve.boundingBox(),
      reject: await screen.decision("reject").boundingBox(),
    });
    const before = await places();
    const place = await hint.boundingBox();
    expect((place?.y ?? Infinity) + (place?.height ?? 0)).toBeLessThanOrEqual(before.approve?.y ?? 0);
    await screen.readsCalls();
    await screen.isReady(approve);
    await hint.waitFor({ state: "detached" });
    expect(await places()).toEqual(before);
  });
