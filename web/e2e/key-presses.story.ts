import { expect } from "vitest";
import { calls, write } from "./toolCalls";
import type { Screen } from "./screen";
import { story } from "./story";

/** Records the requests of a page that decide about calls or undo a change. */
function recordRequests({ page }: Screen): readonly string[] {
  const recorded: string[] = [];
  page.on("request", (request) => /\/(decide|undo)$/.test(request.url()) && recorded.push(request.url()));
  return recorded;
}

const stopClock = async ({ page }: Screen) => page.clock.pauseAt((await page.evaluate(() => Date.now())) + 5_000);

story("a held Enter approves the calls it was pressed for, and no others", async ({ model, open, file }) => {
  const names = ["a.txt", "b.txt", "c.txt", "d.txt"];
  model.answers(calls(...names.map((name) => write(name))), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("4 actions need approval").waitFor();
  for (const name of ["a.txt", "b.txt"]) await screen.dock.getByRole("checkbox", { name: new RegExp(name) }).check();
  await screen.readCalls();
  await screen.waitUntilReady(screen.decision("approveSome", { n: 2 }));
  const requests = recordRequests(screen);
  await screen.decision("approveSome", { n: 2 }).focus();
  await screen.page.keyboard.down("Enter");
  await screen.dock.getByText("2 actions need approval").waitFor();
  const rest = screen.decision("approveAll", { n: 2 });
  await screen.readCalls();
  await screen.waitUntilReady(rest);
  await rest.focus();
  await screen.page.keyboard.down("Enter");
  await screen.page.keyboard.up("Enter");
  await screen.decision("rejectAll", { n: 2 }).click();
  await screen.waitForText("Done.");
  expect(requests.length).toBe(2);
  expect(await file("a.txt")).toBe("a.txt\n");
  await expect(file("c.txt")).rejects.toThrow();
});

story("Enter that opens the rule options does not give a rule", async ({ model, open, file }) => {
  model.answers(calls(write("a.txt")));
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("approve"));
  const requests = recordRequests(screen);
  await clock.install();
  await stopClock(screen);
  await screen.decision("always").focus();
  await keyboard.press("Enter");
  await screen.decision("alwaysGive").waitFor();
  await screen.waitUntilFocused(screen.dock.getByRole("radio").first());
  await keyboard.press("Enter");
  await keyboard.press("Enter");
  expect(requests).toEqual([]);
  await clock.resume();
  await screen.decision("back").click();
  await screen.decision("reject").click();
  await screen.waitUntilIdle();
  await expect(file("a.txt")).rejects.toThrow();
});

story("Enter on a notice that disappears approves nothing behind it", async ({ model, open, file, allow }) => {
  allow(/status of 409/);
  model.answers(calls(write("a.txt")), "Done.");
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("approve"));
  await screen.page.getByRole("button", { name: "Conversation options" }).click();
  await screen.page.getByRole("menuitem", { name: "Undo last file change" }).click();
  const dismiss = screen.page.getByRole("button", { name: "Dismiss" });
  await dismiss.waitFor();
  const requests = recordRequests(screen);
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
  await screen.waitForText("Done.");
  expect(await file("a.txt")).toBe("a.txt\n");
});

story("a held or repeated Enter in the conversation menu undoes only one change", async ({ model, open, file }) => {
  model.answers(calls(write("a.txt")), calls(write("b.txt")), "Written.");
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.chooseMode("agent");
  await screen.sendMessage("go");
  await screen.waitForText("Written.");
  await screen.waitUntilIdle();
  const requests = recordRequests(screen);
  const menu = screen.page.getByRole("menu");
  const undo = screen.page.getByRole("menuitem", { name: "Undo last file change" });
  await clock.install();
  // The Enter that sent the message is outside of the grace period.
  await clock.fastForward(1_000);
  await screen.page.getByRole("button", { name: "Conversation options" }).focus();
  await keyboard.down("Enter");
  await screen.waitUntilFocused(undo);
  await keyboard.down("Enter");
  await keyboard.up("Enter");
  expect(requests).toEqual([]);
  await screen.waitUntilFocused(undo);
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
