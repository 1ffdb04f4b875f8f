import { expect } from "vitest";
import { calls, run, write } from "./toolCalls";
import { story } from "./story";

story("a second click does not decide a call that has just moved under the pointer", async ({ model, open, file }) => {
  model.answers(calls(write("a.txt"), write("b.txt"), write("c.txt")), "Done.");
  const screen = await open();
  const { clock, mouse } = screen.page;
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  const approve = screen.decision("approve");
  await screen.dock.getByText("3 actions need approval").waitFor();
  await screen.readCalls();
  await screen.waitUntilReady(approve.last());
  await clock.install();
  await clock.pauseAt(Date.now() + 5_000);
  // The other rows move down when the last one disappears.
  const buttonBox = await approve.last().boundingBox();
  const click = () => mouse.click((buttonBox?.x ?? 0) + 5, (buttonBox?.y ?? 0) + 5);
  await click();
  while ((await approve.count()) !== 2 || (await screen.dock.getByText("2 actions need approval").count()) === 0)
    await clock.runFor(5);
  await click();
  await clock.runFor(100);
  expect(await approve.count()).toBe(2);
  await clock.resume();
  await screen.readCalls();
  await screen.decision("approveAll", { n: 2 }).click();
  await screen.waitForText("Done.");
  expect(await file("b.txt")).toBe("b.txt\n");
});

story("unsent feedback stays when another call of the group is decided elsewhere", async ({ model, open }) => {
  model.answers(calls(write("a.txt"), write("b.txt")), "Then not.");
  const first = await open();
  const second = await open();
  await first.chooseMode("supervised");
  await first.sendMessage("go");
  await second.tab("go").click();
  await first.dock.getByText("2 actions need approval").waitFor();
  await first.decision("tell").first().click();
  const reason = first.page.getByRole("textbox", { name: "What should the agent do instead?" });
  await reason.pressSequentially("wrong");
  await second.readCalls();
  await second.decision("approve").last().click();
  await first.dock.getByText("Already decided").waitFor();
  await first.page.keyboard.type(" file");
  expect(await reason.inputValue()).toBe("wrong file");
});

story(
  "a mode switch applies only to its own conversation, and only after its preview",
  async ({ model, open, file, put, allow }) => {
    allow(/ERR_FAILED/);
    await put("old.txt", "old\n");
    model.answers(calls(run("rm old.txt")));
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.dock.getByText("rm old.txt").first().waitFor();
    await screen.page.route("**/mode/preview*", (route) => route.abort());
    await screen.chooseMode("agent");
    await screen.page.getByRole("region", { name: "Notifications" }).getByText("The mode wasn't switched").waitFor();
    await screen.waitForMode("supervised");
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await screen.page.unroute("**/mode/preview*");
    await screen.page.route("**/mode/preview*", async (route) => (await released, route.continue()));
    await screen.chooseMode("agent");
    await screen.page.keyboard.press("Control+Alt+n");
    await screen.dock.waitFor({ state: "detached" });
    const previewResponse = screen.page.waitForResponse(/mode\/preview/);
    release();
    await (await previewResponse).finished();
    await screen.tab("go").click();
    await screen.decision("approve").waitFor();
    expect(await screen.page.getByRole("dialog").count()).toBe(0);
    await screen.waitForMode("supervised");
    expect(await file("old.txt")).toBe("old\n");
  },
);

story(
  "deleting text, holding a key or pressing a button of the card decides nothing by accident",
  async ({ model, open, file }) => {
    model.answers({ text: "See:", ...calls(write("log.txt")), hold: 1 });
    const screen = await open();
    const { clock, keyboard } = screen.page;
    await screen.chooseMode("review");
    await screen.sendMessage("go");
    await model.waitForHold();
    await screen.page.getByRole("button", { name: "Rules" }).focus();
    await clock.install();
    await clock.fastForward(5_000);
    model.release();
    const approve = screen.decision("approveOffer");
    await screen.waitUntilReady(approve);
    await screen.waitUntilFocused(screen.page.getByRole("button", { name: "Rules" }));
    await clock.fastForward(5_000);
    await screen.composer.fill("one two");
    await clock.pauseAt((await screen.page.evaluate(() => Date.now())) + 5_000);
    for (let press = 0; press < 3; press++) await keyboard.press("Control+Backspace");
    await clock.resume();
    expect(await screen.composer.inputValue()).toBe("");
    await screen.waitUntilReady(approve);
    await screen.decision("elevate").focus();
    await keyboard.down("Enter");
    const allow = screen.decision("elevateGo");
    await allow.waitFor();
    await keyboard.down("Enter");
    await keyboard.up("Enter");
    await screen.waitUntilReady(allow);
    await expect(file("log.txt")).rejects.toThrow();
  },
);
