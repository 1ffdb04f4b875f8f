import { expect } from "vitest";
import { calls, run, write } from "./toolCalls";
import type { Screen } from "./screen";
import { type World, story } from "./story";

const WIDTHS = { "on a desktop": { width: 1280, height: 600 }, "on a phone": { width: 390, height: 800 } };

/** Fails to undo changes that were overwritten by someone else: each failure shows a notice that stays. */
async function failUndo({ page }: Screen, times: number): Promise<void> {
  const notices = page.getByRole("region", { name: "Notifications" });
  for (let time = 1; time <= times; time++) {
    await page.getByRole("button", { name: "Conversation options" }).click();
    await page.getByRole("menuitem", { name: "Undo last file change" }).click();
    await expect.poll(() => notices.getByRole("button", { name: "Dismiss" }).count()).toBe(time);
  }
}

const dockBox = ({ dock }: Screen) => dock.locator(".card").boundingBox();

for (const [where, options] of Object.entries(WIDTHS)) {
  story(`notices neither cover nor move a pending call ${where}`, async (world: World) => {
    const { model, open, file, put, allow } = world;
    allow(/status of 409/);
    const names = ["a.txt", "b.txt", "c.txt"];
    model.answers(calls(...names.map((name) => write(name))), "Written.", calls(run("touch ran.txt")), "Done.");
    const screen = await open(options);
    await screen.sendMessage("write");
    await screen.waitForText("Written.");
    await screen.waitUntilIdle();
    for (const name of names) await put(name, "of somebody else\n");
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.waitUntilReady(screen.decision("approve"));
    const before = await dockBox(screen);
    await failUndo(screen, names.length);
    expect(await dockBox(screen)).toEqual(before);
    const notices = screen.page.getByRole("region", { name: "Notifications" });
    const box = await notices.boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(before?.y ?? 0);
    await notices.getByText("c.txt").waitFor();
    for (let left = names.length; left > 0; left--) {
      expect(await dockBox(screen)).toEqual(before);
      await notices.getByRole("button", { name: "Dismiss" }).first().click();
    }
    await notices.waitFor({ state: "detached" });
    expect(await dockBox(screen)).toEqual(before);
    await screen.decision("approve").click();
    await screen.waitForText("Done.");
    expect(await file("ran.txt")).toBe("");
  });
}

story("a notice is visible even if pending calls leave no room for it", async ({ model, open, allow, put }) => {
  allow(/status of 409/);
  model.answers(calls(write("a.txt")), "Written.", calls(write("b.txt", "line\n".repeat(60))));
  const screen = await open({ width: 740, height: 360 });
  await screen.sendMessage("write");
  await screen.waitForText("Written.");
  await put("a.txt", "of somebody else\n");
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("reject").waitFor();
  await failUndo(screen, 1);
  const box = await screen.page.getByRole("region", { name: "Notifications" }).boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual((await dockBox(screen))?.y ?? 0);
  const isOnTop = (title: Element) => {
    const { left, top } = title.getBoundingClientRect();
    return title.contains(document.elementFromPoint(left + 4, top + 4));
  };
  expect(await screen.dock.locator(".card-title").evaluate(isOnTop)).toBe(true);
});

story("a notice neither covers nor moves a large card", async ({ model, open, allow, put }) => {
  allow(/status of 409/);
  model.answers(calls(write("a.txt")), "Written.", calls(write("b.txt", "line\n".repeat(200))));
  const screen = await open();
  await screen.sendMessage("write");
  await screen.waitForText("Written.");
  await put("a.txt", "of somebody else\n");
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("reject"));
  await screen.decision("enlarge").first().click();
  const before = await dockBox(screen);
  await failUndo(screen, 1);
  expect(await dockBox(screen)).toEqual(before);
  const notices = screen.page.getByRole("region", { name: "Notifications" });
  const box = await notices.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual((before?.y ?? 0) + 1);
  await notices.getByRole("button", { name: "Dismiss" }).click();
  expect(await dockBox(screen)).toEqual(before);
});

story("a call covered by a menu is unread until the menu is closed", async ({ model, open, file }) => {
  model.answers({ ...calls(run("touch ran.txt")), text: "Wait.", hold: 1 }, "Done.");
  const screen = await open(WIDTHS["on a phone"]);
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await model.waitForHold();
  await screen.mode.click();
  const entry = screen.modeEntry("plan");
  await entry.waitFor();
  model.release();
  await screen.waitUntilReady(screen.decision("reject"));
  const approve = screen.decision("approve");
  expect(await approve.getAttribute("title")).toMatch(/^Read the unread action in full/);
  await screen.page.keyboard.press("Control+j");
  await expect(file("ran.txt")).rejects.toThrow();
  await entry.waitFor({ state: "detached" });
  await screen.waitUntilReady(approve);
  await approve.click();
  await screen.waitForText("Done.");
  expect(await file("ran.txt")).toBe("");
});

story("a call covered by any element stays unread", async ({ model, open, file }) => {
  model.answers(calls(run("touch ran.txt")));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.page.evaluate(() => {
    const cover = document.createElement("div");
    cover.id = "cover";
    cover.style.cssText = "position: fixed; inset: 100px 500px 150px 560px; background: teal";
    document.body.append(cover);
  });
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("reject"));
  const approve = screen.decision("approve");
  expect(await approve.getAttribute("title")).toMatch(/^Read the unread action in full/);
  await screen.page.keyboard.press("Control+j");
  await screen.page.keyboard.press("Enter");
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.page.evaluate(() => document.querySelector("#cover")?.remove());
  await screen.waitUntilReady(approve);
});

story("a call with an unread note below says so and leads there", async ({ model, open }) => {
  model.answers(calls(write("build.sh", "echo build\n"), run("sh build.sh")));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("There is more below.").waitFor();
  await screen.decision("showUnread").click();
  await screen.waitUntilReady(screen.decision("approveAll", { n: 2 }));
});
