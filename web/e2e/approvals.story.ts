import { expect } from "vitest";
import { asks, read, run, write } from "./toolCalls";
import { story } from "./story";

story(
  "supervised waits for every call, also one that reads, and shows the change before it is made",
  async ({ model, open, file, put }) => {
    await put("log.txt", "north\nsouth\n");
    model.answers(asks(read("log.txt")), asks(write("log.txt", "north\neast\n")), "Done.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.dock.getByText("Read a file").waitFor();
    await screen.decision("approve").click();
    await screen.dock.getByText("Write a file").waitFor();
    await screen.dock.getByText("south").waitFor();
    await screen.dock.getByText("east").waitFor();
    expect(await file("log.txt")).toBe("north\nsouth\n");
    await screen.decision("approve").click();
    await screen.reads("Done.");
    expect(await file("log.txt")).toBe("north\neast\n");
    await screen.dock.waitFor({ state: "hidden" });
  },
);

story("review reads by itself, and offers to run a change as the one exception", async ({ model, open, file, put }) => {
  await put("log.txt", "north\n");
  model.answers(asks(read("log.txt")), asks(write("new.txt")), "Done.");
  const screen = await open();
  await screen.choose("review");
  await screen.say("go");
  await screen.dock.getByText("Write a file").waitFor();
  await screen.call("Read a file").getByText("done").waitFor();
  await screen.decision("approveOffer").click();
  await screen.reads("Done.");
  expect(await file("new.txt")).toBe("new.txt\n");
  await screen.isMode("review");
});

story("a rejected call does not run, and ends the turn", async ({ model, open, file }) => {
  model.answers(asks(write("log.txt")));
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("reject").click();
  await screen.rests();
  await screen.call("log.txt").getByText("rejected").waitFor();
  await expect(file("log.txt")).rejects.toThrow();
  expect(model.requests.length).toBe(1);
});

story("the model is told why a call was rejected, and goes on", async ({ model, open }) => {
  model.answers(asks(write("log.txt")), "Then not.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("tell").click();
  await screen.page.getByRole("textbox", { name: "What should the agent do instead?" }).fill("wrong file");
  await screen.decision("sendReason").click();
  await screen.reads("Then not.");
  expect(JSON.stringify((await model.asked(2)).messages.at(-1))).toContain("wrong file");
});

story(
  "of three calls some are approved, the others later; nothing runs that was not approved",
  async ({ model, open, file }) => {
    model.answers(asks(write("a.txt"), write("b.txt"), write("c.txt")), "Done.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.dock.getByText("3 actions need approval").waitFor();
    for (const name of ["a.txt", "c.txt"]) await screen.dock.getByRole("checkbox", { name: new RegExp(name) }).check();
    await screen.readsCalls();
    await screen.decision("approveSome", { n: 2 }).click();
    await screen.decision("reject").click();
    await screen.call("b.txt").getByText("rejected").waitFor();
    await screen.call("a.txt").getByText("done").waitFor();
    await screen.call("c.txt").getByText("done").waitFor();
    expect([await file("a.txt"), await file("c.txt")]).toEqual(["a.txt\n", "c.txt\n"]);
    await expect(file("b.txt")).rejects.toThrow();
  },
);

story("three calls are approved with one press", async ({ model, open, file }) => {
  model.answers(asks(write("a.txt"), write("b.txt"), write("c.txt")), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("approveAll", { n: 3 }).waitFor();
  await screen.readsCalls();
  await screen.decision("approveAll", { n: 3 }).click();
  await screen.reads("Done.");
  expect(await Promise.all(["a.txt", "b.txt", "c.txt"].map(file))).toEqual(["a.txt\n", "b.txt\n", "c.txt\n"]);
});

story("an edited call is shown with its own diff, and again when its file has changed", async (given) => {
  const { model, open, file, put, allow } = given;
  allow(/status of 409/); // the file changes between the preview and the decision
  model.answers(asks(write("log.txt", "theirs\n")), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
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
  await screen.readsCalls();
  await screen.isReady(send);
  await put("other.txt", "second\n");
  await send.click();
  await shown.locator(".diff").getByText("second").waitFor();
  expect(await file("other.txt")).toBe("second\n");
  await screen.readsCalls();
  await screen.isReady(send);
  await send.click();
  await screen.reads("Done.");
  expect(await file("other.txt")).toBe("mine\n");
});

story("what runs is what was edited", async ({ model, open, file }) => {
  model.answers(asks(write("log.txt", "theirs\n")), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("edit").click();
  const field = screen.page.getByRole("textbox", { name: "Arguments (JSON)" });
  await field.fill("{");
  await screen.dock.getByText(/Invalid JSON/).waitFor();
  await field.fill(JSON.stringify({ path: "log.txt", content: "mine\n" }));
  await screen.decision("editSend").click();
  await screen.reads("Done.");
  expect(await file("log.txt")).toBe("mine\n");
  await screen.call("log.txt").getByText("edited").waitFor();
});

story(
  "a switch to agent starts what waits, but asks first where that is dangerous",
  async ({ model, open, file, put }) => {
    await put("old.txt", "old\n");
    model.answers(asks(run("rm old.txt")), "Gone.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.dock.getByText("rm old.txt").first().waitFor();
    await screen.choose("agent");
    const dialog = screen.page.getByRole("dialog");
    await dialog.getByText("rm old.txt").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await screen.isMode("supervised");
    expect(await file("old.txt")).toBe("old\n");
    await screen.choose("agent");
    await dialog.getByRole("button", { name: "Switch and run" }).click();
    await screen.reads("Gone.");
    await expect(file("old.txt")).rejects.toThrow();
    await screen.reads("Mode: Supervised → Agent");
  },
);

story(
  "a switch to agent starts no call that was not read: it asks, and Enter in the selector does not confirm",
  async ({ model, open, file }) => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
    model.answers(asks(write("long.txt", `${lines}\nend\n`)), "Done.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.decision("approve").waitFor();
    await screen.untilTabOn(screen.mode);
    await screen.page.keyboard.press("Enter");
    await screen.entry("agent").waitFor();
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
    await screen.isMode("supervised");
    await expect(file("long.txt")).rejects.toThrow();
    await screen.readsCalls(dialog);
    await screen.isReady(confirm);
    await confirm.click();
    await screen.reads("Done.");
    expect(await file("long.txt")).toContain("end");
  },
);

story("a switch to agent starts what was read on the card without asking again", async ({ model, open, file }) => {
  model.answers(asks(write("short.txt", "short\n")), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.isReady(screen.decision("approve"));
  await screen.choose("agent");
  await screen.reads("Done.");
  expect(await file("short.txt")).toBe("short\n");
});

story("a rule that is given with one call starts no other that was not read", async ({ model, open, file }) => {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
  model.answers(asks(write("a.txt"), write("b.txt", `${lines}\n`)), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.dock.getByText("2 actions need approval").waitFor();
  const row = screen.dock.getByRole("group", { name: "Write a file" }).first();
  await screen.isReady(screen.decision("approve", {}, row));
  await screen.decision("always", {}, row).click();
  await screen.dock
    .getByRole("radio", { name: /any use/i })
    .first()
    .check();
  await screen.decision("alwaysGive").click();
  await screen.call("a.txt").getByText("done").waitFor();
  await screen.dock.getByText("b.txt").first().waitFor();
  await expect(file("b.txt")).rejects.toThrow();
  await screen.decision("reject").click();
  await screen.rests();
});

story("a switch to ask rejects all that waits", async ({ model, open, file }) => {
  model.answers(asks(write("a.txt"), write("b.txt")));
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.dock.getByText("2 actions need approval").waitFor();
  await screen.choose("ask");
  await screen.rests();
  await screen.decision("approveAll", { n: 2 }).waitFor({ state: "detached" });
  await screen.reads("Mode: Supervised → Ask");
  await expect(file("a.txt")).rejects.toThrow();
  await expect(file("b.txt")).rejects.toThrow();
});

story(
  "a rule that was given with a call is listed; once revoked, such calls wait again",
  async ({ model, open, file }) => {
    model.answers(asks(write("a.txt")), asks(write("a.txt", "again\n")), "Done.", asks(write("a.txt", "third\n")));
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.decision("always").click();
    await screen.dock
      .getByRole("radio", { name: /any use/i })
      .first()
      .check();
    await screen.decision("alwaysGive").click();
    await screen.reads("Done.");
    expect(await file("a.txt")).toBe("again\n");
    await screen.page.getByRole("button", { name: "Rules" }).click();
    const rules = screen.page.getByRole("dialog", { name: "Rules" });
    await rules.getByText(/write_file.*, any use/).waitFor();
    await rules.getByRole("button", { name: "Revoke" }).click();
    await rules.getByText("No rules yet.").waitFor();
    await screen.page.keyboard.press("Escape");
    await screen.say("again");
    await screen.decision("approve").waitFor();
    expect(await file("a.txt")).toBe("again\n");
  },
);
