import { expect } from "vitest";
import { calls, read, run, write } from "./toolCalls";
import { story } from "./story";

story(
  "supervised mode asks before every call, and shows a change before it is made",
  async ({ model, open, file, put }) => {
    await put("log.txt", "north\nsouth\n");
    model.answers(calls(read("log.txt")), calls(write("log.txt", "north\neast\n")), "Done.");
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.dock.getByText("Read a file").waitFor();
    await screen.decision("approve").click();
    await screen.dock.getByText("Write a file").waitFor();
    await screen.dock.getByText("south").waitFor();
    await screen.dock.getByText("east").waitFor();
    expect(await file("log.txt")).toBe("north\nsouth\n");
    await screen.decision("approve").click();
    await screen.waitForText("Done.");
    expect(await file("log.txt")).toBe("north\neast\n");
    await screen.dock.waitFor({ state: "hidden" });
  },
);

story("review mode reads without asking, and offers to run a single change", async ({ model, open, file, put }) => {
  await put("log.txt", "north\n");
  model.answers(calls(read("log.txt")), calls(write("new.txt")), "Done.");
  const screen = await open();
  await screen.chooseMode("review");
  await screen.sendMessage("go");
  await screen.dock.getByText("Write a file").waitFor();
  await screen.callLine("Read a file").getByText("done").waitFor();
  await screen.decision("approveOffer").click();
  await screen.waitForText("Done.");
  expect(await file("new.txt")).toBe("new.txt\n");
  await screen.waitForMode("review");
});

story("a rejected call does not run and ends the turn", async ({ model, open, file }) => {
  model.answers(calls(write("log.txt")));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("reject").click();
  await screen.waitUntilIdle();
  await screen.callLine("log.txt").getByText("rejected").waitFor();
  await expect(file("log.txt")).rejects.toThrow();
  expect(model.requests.length).toBe(1);
});

story("the model receives the feedback to a rejected call and continues", async ({ model, open }) => {
  model.answers(calls(write("log.txt")), "Then not.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("tell").click();
  await screen.page.getByRole("textbox", { name: "What should the agent do instead?" }).fill("wrong file");
  await screen.decision("sendReason").click();
  await screen.waitForText("Then not.");
  expect(JSON.stringify((await model.waitForRequest(2)).messages.at(-1))).toContain("wrong file");
});

story("a part of three calls can be approved, and only approved calls run", async ({ model, open, file }) => {
  model.answers(calls(write("a.txt"), write("b.txt"), write("c.txt")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("3 actions need approval").waitFor();
  for (const name of ["a.txt", "c.txt"]) await screen.dock.getByRole("checkbox", { name: new RegExp(name) }).check();
  await screen.readCalls();
  await screen.decision("approveSome", { n: 2 }).click();
  await screen.decision("reject").click();
  await screen.callLine("b.txt").getByText("rejected").waitFor();
  await screen.callLine("a.txt").getByText("done").waitFor();
  await screen.callLine("c.txt").getByText("done").waitFor();
  expect([await file("a.txt"), await file("c.txt")]).toEqual(["a.txt\n", "c.txt\n"]);
  await expect(file("b.txt")).rejects.toThrow();
});

story("three calls can be approved with one click", async ({ model, open, file }) => {
  model.answers(calls(write("a.txt"), write("b.txt"), write("c.txt")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("approveAll", { n: 3 }).waitFor();
  await screen.readCalls();
  await screen.decision("approveAll", { n: 3 }).click();
  await screen.waitForText("Done.");
  expect(await Promise.all(["a.txt", "b.txt", "c.txt"].map(file))).toEqual(["a.txt\n", "b.txt\n", "c.txt\n"]);
});

story("an edited call is shown with its own diff, which is refreshed when the file changes", async (world) => {
  const { model, open, file, put, allow } = world;
  allow(/status of 409/); // the file changes between the preview and the decision
  model.answers(calls(write("log.txt", "theirs\n")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await put("other.txt", "first\n");
  await screen.decision("edit").click();
  const field = screen.page.getByRole("textbox", { name: "Arguments (JSON)" });
  const shown = screen.dock.getByRole("region", { name: /^What will run/ });
  await field.fill(JSON.stringify({ path: "../other.txt", content: "mine\n" }));
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  await field.fill(JSON.stringify({ path: "other.txt", content: "mine\n" }));
  await shown.locator(".diff").getByText("first").waitFor();
  await shown.locator(".risk").waitFor();
  const send = screen.decision("editSend");
  await screen.readCalls();
  await screen.waitUntilReady(send);
  await put("other.txt", "second\n");
  await send.click();
  await shown.locator(".diff").getByText("second").waitFor();
  expect(await file("other.txt")).toBe("second\n");
  await screen.readCalls();
  await screen.waitUntilReady(send);
  await send.click();
  await screen.waitForText("Done.");
  expect(await file("other.txt")).toBe("mine\n");
});

story("an approved edit runs with the edited arguments", async ({ model, open, file }) => {
  model.answers(calls(write("log.txt", "theirs\n")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("edit").click();
  const field = screen.page.getByRole("textbox", { name: "Arguments (JSON)" });
  await field.fill("{");
  await screen.dock.getByText(/Invalid JSON/).waitFor();
  await field.fill(JSON.stringify({ path: "log.txt", content: "mine\n" }));
  await screen.decision("editSend").click();
  await screen.waitForText("Done.");
  expect(await file("log.txt")).toBe("mine\n");
  await screen.callLine("log.txt").getByText("edited").waitFor();
});

story(
  "a switch to agent mode needs confirmation if it would start a dangerous call",
  async ({ model, open, file, put }) => {
    await put("old.txt", "old\n");
    model.answers(calls(run("rm old.txt")), "Gone.");
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.dock.getByText("rm old.txt").first().waitFor();
    await screen.chooseMode("agent");
    const dialog = screen.page.getByRole("dialog");
    await dialog.getByText("rm old.txt").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await screen.waitForMode("supervised");
    expect(await file("old.txt")).toBe("old\n");
    await screen.chooseMode("agent");
    await dialog.getByRole("button", { name: "Switch and run" }).click();
    await screen.waitForText("Gone.");
    await expect(file("old.txt")).rejects.toThrow();
    await screen.waitForText("Mode: Supervised → Agent");
  },
);

story(
  "a switch to agent mode needs confirmation for unread calls, which Enter in the selector does not give",
  async ({ model, open, file }) => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
    model.answers(calls(write("long.txt", `${lines}\nend\n`)), "Done.");
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.decision("approve").waitFor();
    await screen.tabTo(screen.mode);
    await screen.page.keyboard.press("Enter");
    await screen.modeEntry("agent").waitFor();
    await screen.page.keyboard.press("1");
    await screen.page.keyboard.press("Enter");
    const dialog = screen.page.getByRole("dialog");
    await dialog.getByText("Switching will run an action that you haven't read. Read the action first.").waitFor();
    await dialog
      .getByText(/61 lines|67 lines|6\d lines/)
      .first()
      .waitFor();
    await screen.page.keyboard.press("Enter");
    const confirm = dialog.getByRole("button", { name: "Switch and run" });
    await confirm.click({ force: true });
    await screen.waitForMode("supervised");
    await expect(file("long.txt")).rejects.toThrow();
    await screen.readCalls(dialog);
    await screen.waitUntilReady(confirm);
    await confirm.click();
    await screen.waitForText("Done.");
    expect(await file("long.txt")).toContain("end");
  },
);

story(
  "a switch to agent mode starts calls that were read on the card without confirmation",
  async ({ model, open, file }) => {
    model.answers(calls(write("short.txt", "short\n")), "Done.");
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.waitUntilReady(screen.decision("approve"));
    await screen.chooseMode("agent");
    await screen.waitForText("Done.");
    expect(await file("short.txt")).toBe("short\n");
  },
);

story("a rule given with one call does not start other, unread calls", async ({ model, open, file }) => {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
  model.answers(calls(write("a.txt"), write("b.txt", `${lines}\n`)), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("2 actions need approval").waitFor();
  const row = screen.dock.getByRole("group", { name: "Write a file" }).first();
  await screen.waitUntilReady(screen.decision("approve", {}, row));
  await screen.decision("always", {}, row).click();
  await screen.dock
    .getByRole("radio", { name: /any use/i })
    .first()
    .check();
  await screen.decision("alwaysGive").click();
  await screen.callLine("a.txt").getByText("done").waitFor();
  await screen.dock.getByText("b.txt").first().waitFor();
  await expect(file("b.txt")).rejects.toThrow();
  await screen.decision("reject").click();
  await screen.waitUntilIdle();
});

story("a switch to ask mode rejects all pending calls", async ({ model, open, file }) => {
  model.answers(calls(write("a.txt"), write("b.txt")));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("2 actions need approval").waitFor();
  await screen.chooseMode("ask");
  await screen.waitUntilIdle();
  await screen.decision("approveAll", { n: 2 }).waitFor({ state: "detached" });
  await screen.waitForText("Mode: Supervised → Ask");
  await expect(file("a.txt")).rejects.toThrow();
  await expect(file("b.txt")).rejects.toThrow();
});

story(
  "a rule given with a call is listed, and calls need approval again once it is revoked",
  async ({ model, open, file }) => {
    model.answers(calls(write("a.txt")), calls(write("a.txt", "again\n")), "Done.", calls(write("a.txt", "third\n")));
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.decision("always").click();
    await screen.dock
      .getByRole("radio", { name: /any use/i })
      .first()
      .check();
    await screen.decision("alwaysGive").click();
    await screen.waitForText("Done.");
    expect(await file("a.txt")).toBe("again\n");
    await screen.page.getByRole("button", { name: "Rules" }).click();
    const rules = screen.page.getByRole("dialog", { name: "Rules" });
    await rules.getByText(/write_file.*, any use/).waitFor();
    await rules.getByRole("button", { name: "Revoke" }).click();
    await rules.getByText("No rules yet.").waitFor();
    await screen.page.keyboard.press("Escape");
    await screen.sendMessage("again");
    await screen.decision("approve").waitFor();
    expect(await file("a.txt")).toBe("again\n");
  },
);
