import { expect } from "vitest";
import { calls, write } from "./toolCalls";
import { story } from "./story";

const WRITE = calls(write("log.txt", "north\n"));

story("agent mode runs a change without asking", async ({ model, open, file }) => {
  model.answers(WRITE, "Written.");
  const screen = await open();
  await screen.chooseMode("agent");
  await screen.sendMessage("write the log");
  await screen.waitForText("Written.");
  expect(await file("log.txt")).toBe("north\n");
});

story("plan mode denies a change and names the mode that allows it", async ({ model, open, file }) => {
  model.answers(WRITE);
  const screen = await open();
  await screen.chooseMode("plan");
  await screen.sendMessage("write the log");
  await screen.waitUntilIdle();
  await screen.page
    .getByRole("article", { name: "Error" })
    .getByText(/Switch to Agent/)
    .waitFor();
  expect((await model.waitForRequest(1)).tools?.map((tool) => tool.function.name)).not.toContain("write_file");
  await expect(file("log.txt")).rejects.toThrow();
  await screen.chooseMode("agent");
  model.answers(WRITE, "Written.");
  await screen.button("continue").click();
  await screen.waitForText("Written.");
  expect(await file("log.txt")).toBe("north\n");
});

story(
  "without a chosen mode, a conversation starts in the server's mode",
  async ({ model, open, file }) => {
    model.answers(WRITE, "Written.");
    const screen = await open();
    await screen.waitForMode("supervised");
    await screen.sendMessage("write the log");
    await screen.decision("approve").waitFor();
    await screen.waitForMode("supervised");
    await expect(file("log.txt")).rejects.toThrow();
    expect(await screen.page.evaluate(() => localStorage.getItem("ai-chat-mode"))).toBeNull();
  },
  "story",
  { PILOTHOUSE_MODE: "supervised" },
);

story("ask mode offers the model no tools", async ({ model, open }) => {
  model.answers("Only words.");
  const screen = await open();
  await screen.chooseMode("ask");
  await screen.sendMessage("what is this?");
  await screen.waitForText("Only words.");
  expect((await model.waitForRequest(1)).tools).toBeUndefined();
});

story("the mode menu explains each mode and works with the keyboard alone", async ({ open }) => {
  const screen = await open();
  await screen.mode.focus();
  await screen.page.keyboard.press("ArrowDown");
  await screen.modeEntry("agent").getByText("Runs everything without asking.").waitFor();
  expect(await screen.page.getByRole("menuitemradio").count()).toBe(5);
  await screen.page.keyboard.press("Escape");
  await screen.page.getByRole("menu").waitFor({ state: "detached" });
  await screen.page.keyboard.press("Enter");
  await screen.page.keyboard.press("5");
  await screen.page.keyboard.press("Enter");
  await screen.waitForMode("ask");
});

story("a shortcut cycles through the modes, and the chosen mode survives a reload", async ({ model, open }) => {
  const screen = await open();
  await screen.waitForMode("agent");
  for (const mode of ["supervised", "review", "plan", "ask", "agent", "supervised"] as const) {
    await screen.page.keyboard.press("Control+.");
    await screen.waitForMode(mode);
  }
  const stored = await screen.page.evaluate(() => localStorage.getItem("ai-chat-mode"));
  expect(JSON.parse(stored ?? "null")).toMatchObject({ mode: "supervised", updatedAt: expect.any(Number) });
  await screen.page.reload();
  await screen.waitForMode("supervised");
  model.answers("Aye.");
  await screen.sendMessage("hello");
  await screen.waitForText("Aye.");
  await screen.waitForMode("supervised");
});

story("a mode switch appears in the transcript", async ({ model, open }) => {
  model.answers("Aye.");
  const screen = await open();
  await screen.sendMessage("hello");
  await screen.waitUntilIdle();
  await screen.chooseMode("plan");
  await screen.waitForText("Mode: Agent → Plan");
  await screen.page.reload();
  await screen.waitForMode("plan");
  await screen.waitForText("Mode: Agent → Plan");
});

story("the mode can be chosen while an answer streams", async ({ model, open }) => {
  const lines = Array.from({ length: 60 }, (_, number) => `line ${number}\n\n`);
  model.answers({ deltas: [...lines, "the last line"], hold: 30 });
  const screen = await open();
  await screen.sendMessage("go");
  await model.waitForHold();
  await screen.waitForText("line 29");
  await screen.mode.click();
  await screen.modeEntry("plan").waitFor();
  model.release();
  await screen.waitForText("the last line");
  await screen.modeEntry("plan").click();
  await screen.waitForMode("plan");
});
