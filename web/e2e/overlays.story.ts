import { expect } from "vitest";
import { asks, run, write } from "./toolCalls";
import type { Screen } from "./screen";
import { type World, story } from "./story";

const WIDTHS = { "on a desktop": { width: 1280, height: 600 }, "on a phone": { width: 390, height: 800 } };

/** Fails to undo changes that were overwritten by someone else: each failure shows a notice that stays. */
async function failsToUndo({ page }: Screen, times: number): Promise<void> {
  const notices = page.getByRole("region", { name: "Notifications" });
  for (let time = 1; time <= times; time++) {
    await page.getByRole("button", { name: "Conversation options" }).click();
    await page.getByRole("menuitem", { name: "Undo last file change" }).click();
    await expect.poll(() => notices.getByRole("button", { name: "Dismiss" }).count()).toBe(time);
  }
}

const ofDock = ({ dock }: Screen) => dock.locator(".card").boundingBox();

for (const [where, looks] of Object.entries(WIDTHS)) {
  story(`notices neither cover nor move a call that waits ${where}`, async (world: World) => {
    const { model, open, file, put, allow } = world;
    allow(/status of 409/);
    const names = ["a.txt", "b.txt", "c.txt"];
    model.answers(asks(...names.map((name) => write(name))), "Written.", asks(run("touch ran.txt")), "Done.");
    const screen = await open(looks);
    await screen.say("write");
    await screen.reads("Written.");
    await screen.rests();
    for (const name of names) await put(name, "of somebody else\n");
    await screen.choose("supervised");
    await screen.say("go");
    await screen.isReady(screen.decision("approve"));
    const before = await ofDock(screen);
    await failsToUndo(screen, names.length);
    expect(await ofDock(screen)).toEqual(before);
    const notices = screen.page.getByRole("region", { name: "Notifications" });
    const box = await notices.boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(before?.y ?? 0);
    await notices.getByText("c.txt").waitFor();
    for (let left = names.length; left > 0; left--) {
      expect(await ofDock(screen)).toEqual(before);
      await notices.getByRole("button", { name: "Dismiss" }).first().click();
    }
    await notices.waitFor({ state: "detached" });
    expect(await ofDock(screen)).toEqual(before);
    await screen.decision("approve").click();
    await screen.reads("Done.");
    expect(await file("ran.txt")).toBe("");
  });
}

story("a notice is seen even where the calls that wait leave no room for it", async ({ model, open, allow, put }) => {
  allow(/status of 409/);
  model.answers(asks(write("a.txt")), "Written.", asks(write("b.txt", "line\n".repeat(60))));
  const screen = await open({ width: 740, height: 360 });
  await screen.say("write");
  await screen.reads("Written.");
  await put("a.txt", "of somebody else\n");
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("reject").waitFor();
  await failsToUndo(screen, 1);
  const box = await screen.page.getByRole("region", { name: "Notifications" }).boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual((await ofDock(screen))?.y ?? 0);
  const isOnTop = (title: Element) => {
    const { left, top } = title.getBoundingClientRect();
    return title.contains(document.elementFromPoint(left + 4, top + 4));
  };
  expect(await screen.dock.locator(".card-title").evaluate(isOnTop)).toBe(true);
});

story("a notice neither covers nor moves a large card", async ({ model, open, allow, put }) => {
  allow(/status of 409/);
  model.answers(asks(write("a.txt")), "Written.", asks(write("b.txt", "line\n".repeat(200))));
  const screen = await open();
  await screen.say("write");
  await screen.reads("Written.");
  await put("a.txt", "of somebody else\n");
  await screen.choose("supervised");
  await screen.say("go");
  await screen.isReady(screen.decision("reject"));
  await screen.decision("enlarge").first().click();
  const before = await ofDock(screen);
  await failsToUndo(screen, 1);
  expect(await ofDock(screen)).toEqual(before);
  const notices = screen.page.getByRole("region", { name: "Notifications" });
  const box = await notices.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual((before?.y ?? 0) + 1);
  await notices.getByRole("button", { name: "Dismiss" }).click();
  expect(await ofDock(screen)).toEqual(before);
});

story("what a menu covers is not read until the menu is closed", async ({ model, open, file }) => {
  model.answers({ ...asks(run("touch ran.txt")), text: "Wait.", hold: 1 }, "Done.");
  const screen = await open(WIDTHS["on a phone"]);
  await screen.choose("supervised");
  await screen.say("go");
  await model.held();
  await screen.mode.click();
  const entry = screen.entry("plan");
  await entry.waitFor();
  model.release();
  await screen.isReady(screen.decision("reject"));
  const approve = screen.decision("approve");
  expect(await approve.getAttribute("title")).toMatch(/^Read the unread action in full/);
  await screen.page.keyboard.press("Control+j");
  await expect(file("ran.txt")).rejects.toThrow();
  await entry.waitFor({ state: "detached" });
  await screen.isReady(approve);
  await approve.click();
  await screen.reads("Done.");
  expect(await file("ran.txt")).toBe("");
});

story("whatever else lies over a call keeps it unread", async ({ model, open, file }) => {
  model.answers(asks(run("touch ran.txt")));
  const screen = await open();
  await screen.choose("supervised");
  await screen.page.evaluate(() => {
    const cover = document.createElement("div");
    cover.id = "cover";
    cover.style.cssText = "position: fixed; inset: 100px 500px 150px 560px; background: teal";
    document.body.append(cover);
  });
  await screen.say("go");
  await screen.isReady(screen.decision("reject"));
  const approve = screen.decision("approve");
  expect(await approve.getAttribute("title")).toMatch(/^Read the unread action in full/);
  await screen.page.keyboard.press("Control+j");
  await screen.page.keyboard.press("Enter");
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.page.evaluate(() => document.querySelector("#cover")?.remove());
  await screen.isReady(approve);
});

story("a call of which only a note lies below says so, and leads there", async ({ model, open }) => {
  model.answers(asks(write("build.sh", "echo build\n"), run("sh build.sh")));
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.dock.getByText("There is more below.").waitFor();
  await screen.decision("showUnread").click();
  await screen.isReady(screen.decision("approveAll", { n: 2 }));
});
