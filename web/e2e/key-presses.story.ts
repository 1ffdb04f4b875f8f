import { expect } from "vitest";
import { asks, write } from "./toolCalls";
import type { Screen } from "./screen";
import { story } from "./story";

/** Records the requests of a page that decide about calls or undo a change. */
function requestsOf({ page }: Screen): readonly string[] {
  const found: string[] = [];
  page.on("request", (request) => /\/(decide|undo)$/.test(request.url()) && found.push(request.url()));
  return found;
}

const stopClock = async ({ page }: Screen) => page.clock.pauseAt((await page.evaluate(() => Date.now())) + 5_000);

story("a held Enter approves what it was pressed for, and nothing of what is left", async ({ model, open, file }) => {
  const names = ["a.txt", "b.txt", "c.txt", "d.txt"];
  model.answers(asks(...names.map((name) => write(name))), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.dock.getByText("4 actions need approval").waitFor();
  for (const name of ["a.txt", "b.txt"]) await screen.dock.getByRole("checkbox", { name: new RegExp(name) }).check();
  await screen.readsCalls();
  await screen.isReady(screen.decision("approveSome", { n: 2 }));
  const requests = requestsOf(screen);
  await screen.decision("approveSome", { n: 2 }).focus();
  await screen.page.keyboard.down("Enter");
  await screen.dock.getByText("2 actions need approval").waitFor();
  const rest = screen.decision("approveAll", { n: 2 });
  await screen.readsCalls();
  await screen.isReady(rest);
  await rest.focus();
  await screen.page.keyboard.down("Enter");
  await screen.page.keyboard.up("Enter");
  await screen.decision("rejectAll", { n: 2 }).click();
  await screen.reads("Done.");
  expect(requests.length).toBe(2);
  expect(await file("a.txt")).toBe("a.txt\n");
  await expect(file("c.txt")).rejects.toThrow();
});

story("Enter that opens the rules does not give one as well", async ({ model, open, file }) => {
  model.answers(asks(write("a.txt")));
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.choose("supervised");
  await screen.say("go");
  await screen.isReady(screen.decision("approve"));
  const requests = requestsOf(screen);
  await clock.install();
  await stopClock(screen);
  await screen.decision("always").focus();
  await keyboard.press("Enter");
  await screen.decision("alwaysGive").waitFor();
  await screen.isFocused(screen.dock.getByRole("radio").first());
  await keyboard.press("Enter");
  await keyboard.press("Enter");
  expect(requests).toEqual([]);
  await clock.resume();
  await screen.decision("back").click();
  await screen.decision("reject").click();
  await screen.rests();
  await expect(file("a.txt")).rejects.toThrow();
});

story("Enter on a notice that goes away approves nothing behind it", async ({ model, open, file, allow }) => {
  allow(/status of 409/);
  model.answers(asks(write("a.txt")), "Done.");
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.choose("supervised");
  await screen.say("go");
  await screen.isReady(screen.decision("approve"));
  await screen.page.getByRole("button", { name: "Conversation options" }).click();
  await screen.page.getByRole("menuitem", { name: "Undo last file change" }).click();
  const dismiss = screen.page.getByRole("button", { name: "Dismiss" });
  await dismiss.waitFor();
  const requests = requestsOf(screen);
  await clock.install();
  await clock.fastForward(5_000);
  await dismiss.focus();
  await keyboard.press("Enter");
  await dismiss.waitFor({ state: "detached" });
  await clock.fastForward(5_000);
  await keyboard.press("Enter");
  expect(requests).toEqual([]);
  await keyboard.press("Control+j");
  await keyboard.press("Enter");
  await screen.reads("Done.");
  expect(await file("a.txt")).toBe("a.txt\n");
});

story("a held or repeated Enter in the menu of a conversation undoes one change", async ({ model, open, file }) => {
  model.answers(asks(write("a.txt")), asks(write("b.txt")), "Written.");
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.choose("agent");
  await screen.say("go");
  await screen.reads("Written.");
  await screen.rests();
  const requests = requestsOf(screen);
  const menu = screen.page.getByRole("menu");
  const undo = screen.page.getByRole("menuitem", { name: "Undo last file change" });
  await clock.install();
  // The Enter that sent the message is outside of the grace period.
  await clock.fastForward(1_000);
  await screen.page.getByRole("button", { name: "Conversation options" }).focus();
  await keyboard.down("Enter");
  await screen.isFocused(undo);
  await keyboard.down("Enter");
  await keyboard.up("Enter");
  expect(requests).toEqual([]);
  await screen.isFocused(undo);
  await clock.fastForward(1_000);
  await stopClock(screen);
  await keyboard.press("Enter");
  for (let press = 0; press < 3; press++) await keyboard.press("Enter");
  expect(await menu.count()).toBe(0);
  await clock.resume();
  await screen.page.getByRole("region", { name: "Notifications" }).getByText("b.txt").waitFor();
  expect(requests.length).toBe(1);
  await expect(file("b.txt")).rejects.toThrow();
  expect(await file("a.txt")).toBe("a.txt\n");
});
