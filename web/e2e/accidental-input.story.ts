import { expect } from "vitest";
import { asks, run, write } from "./toolCalls";
import { story } from "./story";

story("a second click decides nothing that has only just moved under it", async ({ model, open, file }) => {
  model.answers(asks(write("a.txt"), write("b.txt"), write("c.txt")), "Done.");
  const screen = await open();
  const { clock, mouse } = screen.page;
  await screen.choose("supervised");
  await screen.say("go");
  const approve = screen.decision("approve");
  await screen.dock.getByText("3 actions need approval").waitFor();
  await screen.readsCalls();
  await screen.isReady(approve.last());
  await clock.install();
  await clock.pauseAt(Date.now() + 5_000);
  // The other rows move down when the last one disappears.
  const place = await approve.last().boundingBox();
  const click = () => mouse.click((place?.x ?? 0) + 5, (place?.y ?? 0) + 5);
  await click();
  while ((await approve.count()) !== 2 || (await screen.dock.getByText("2 actions need approval").count()) === 0)
    await clock.runFor(5);
  await click();
  await clock.runFor(100);
  expect(await approve.count()).toBe(2);
  await clock.resume();
  await screen.readsCalls();
  await screen.decision("approveAll", { n: 2 }).click();
  await screen.reads("Done.");
  expect(await file("b.txt")).toBe("b.txt\n");
});

story("what is written about a call stays when another beside it is decided elsewhere", async ({ model, open }) => {
  model.answers(asks(write("a.txt"), write("b.txt")), "Then not.");
  const first = await open();
  const second = await open();
  await first.choose("supervised");
  await first.say("go");
  await second.tab("go").click();
  await first.dock.getByText("2 actions need approval").waitFor();
  await first.decision("tell").first().click();
  const reason = first.page.getByRole("textbox", { name: "What should the agent do instead?" });
  await reason.pressSequentially("wrong");
  await second.readsCalls();
  await second.decision("approve").last().click();
  await first.dock.getByText("Already decided").waitFor();
  await first.page.keyboard.type(" file");
  expect(await reason.inputValue()).toBe("wrong file");
});

story(
  "a switch of the mode is made only for the conversation it was meant for, and when it is known what it starts",
  async ({ model, open, file, put, allow }) => {
    allow(/ERR_FAILED/);
    await put("old.txt", "old\n");
    model.answers(asks(run("rm old.txt")));
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.dock.getByText("rm old.txt").first().waitFor();
    await screen.page.route("**/mode/preview*", (route) => route.abort());
    await screen.choose("agent");
    await screen.page.getByRole("region", { name: "Notifications" }).getByText("The mode wasn't switched").waitFor();
    await screen.isMode("supervised");
    let release = () => {};
    const late = new Promise<void>((resolve) => (release = resolve));
    await screen.page.unroute("**/mode/preview*");
    await screen.page.route("**/mode/preview*", async (route) => (await late, route.continue()));
    await screen.choose("agent");
    await screen.page.keyboard.press("Control+Alt+n");
    await screen.dock.waitFor({ state: "detached" });
    const answered = screen.page.waitForResponse(/mode\/preview/);
    release();
    await (await answered).finished();
    await screen.tab("go").click();
    await screen.decision("approve").waitFor();
    expect(await screen.page.getByRole("dialog").count()).toBe(0);
    await screen.isMode("supervised");
    expect(await file("old.txt")).toBe("old\n");
  },
);

story("keys that delete, that are held, or that belong to a button decide nothing", async ({ model, open, file }) => {
  model.answers({ text: "See:", ...asks(write("log.txt")), hold: 1 });
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.choose("review");
  await screen.say("go");
  await model.held();
  await screen.page.getByRole("button", { name: "Rules" }).focus();
  await clock.install();
  await clock.fastForward(5_000);
  model.release();
  const approve = screen.decision("approveOffer");
  await screen.isReady(approve);
  await screen.isFocused(screen.page.getByRole("button", { name: "Rules" }));
  await clock.fastForward(5_000);
  await screen.box.fill("one two");
  await clock.pauseAt((await screen.page.evaluate(() => Date.now())) + 5_000);
  for (let press = 0; press < 3; press++) await keyboard.press("Control+Backspace");
  await clock.resume();
  expect(await screen.box.inputValue()).toBe("");
  await screen.isReady(approve);
  await screen.decision("elevate").focus();
  await keyboard.down("Enter");
  const allow = screen.decision("elevateGo");
  await allow.waitFor();
  await keyboard.down("Enter");
  await keyboard.up("Enter");
  await screen.isReady(allow);
  await expect(file("log.txt")).rejects.toThrow();
});
