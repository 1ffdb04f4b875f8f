import { expect } from "vitest";
import { asks, write } from "./toolCalls";
import { story } from "./story";

const WRITE = asks(write("log.txt", "north\n"));

story("agent runs a change by itself", async ({ model, open, file }) => {
  model.answers(WRITE, "Written.");
  const screen = await open();
  await screen.choose("agent");
  await screen.say("write the log");
  await screen.reads("Written.");
  expect(await file("log.txt")).toBe("north\n");
});

story(
  "plan denies a change and says which mode would let it run; after the switch it goes on",
  async ({ model, open, file }) => {
    model.answers(WRITE);
    const screen = await open();
    await screen.choose("plan");
    await screen.say("write the log");
    await screen.rests();
    await screen.page
      .getByRole("article", { name: "Error" })
      .getByText(/Switch to Agent/)
      .waitFor();
    expect((await model.asked(1)).tools?.map((tool) => tool.function.name)).not.toContain("write_file");
    await expect(file("log.txt")).rejects.toThrow();
    await screen.choose("agent");
    model.answers(WRITE, "Written.");
    await screen.button("continue").click();
    await screen.reads("Written.");
    expect(await file("log.txt")).toBe("north\n");
  },
);

story(
  "who chose no mode begins in the one that the server was started with",
  async ({ model, open, file }) => {
    model.answers(WRITE, "Written.");
    const screen = await open();
    await screen.isMode("supervised");
    await screen.say("write the log");
    await screen.decision("approve").waitFor();
    await screen.isMode("supervised");
    await expect(file("log.txt")).rejects.toThrow();
    expect(await screen.page.evaluate(() => localStorage.getItem("ai-chat-mode"))).toBeNull();
  },
  "story",
  { PILOTHOUSE_MODE: "supervised" },
);

story("ask offers the model no tool", async ({ model, open }) => {
  model.answers("Only words.");
  const screen = await open();
  await screen.choose("ask");
  await screen.say("what is this?");
  await screen.reads("Only words.");
  expect((await model.asked(1)).tools).toBeUndefined();
});

story("the menu says what each mode means, and is reached and left with keys alone", async ({ open }) => {
  const screen = await open();
  await screen.mode.focus();
  await screen.page.keyboard.press("ArrowDown");
  await screen.entry("agent").getByText("Runs everything without asking.").waitFor();
  expect(await screen.page.getByRole("menuitemradio").count()).toBe(5);
  await screen.page.keyboard.press("Escape");
  await screen.page.getByRole("menu").waitFor({ state: "detached" });
  await screen.page.keyboard.press("Enter");
  await screen.page.keyboard.press("5");
  await screen.page.keyboard.press("Enter");
  await screen.isMode("ask");
});

story(
  "a shortcut goes through the modes, and the one that was chosen is there after a reload",
  async ({ model, open }) => {
    const screen = await open();
    await screen.isMode("agent");
    for (const mode of ["supervised", "review", "plan", "ask", "agent", "supervised"] as const) {
      await screen.page.keyboard.press("Control+.");
      await screen.isMode(mode);
    }
    const stored = await screen.page.evaluate(() => localStorage.getItem("ai-chat-mode"));
    expect(JSON.parse(stored ?? "null")).toMatchObject({ mode: "supervised", updatedAt: expect.any(Number) });
    await screen.page.reload();
    await screen.isMode("supervised");
    model.answers("Aye.");
    await screen.say("hello");
    await screen.reads("Aye.");
    await screen.isMode("supervised");
  },
);

story("a switch in the middle of a conversation shows in it", async ({ model, open }) => {
  model.answers("Aye.");
  const screen = await open();
  await screen.say("hello");
  await screen.rests();
  await screen.choose("plan");
  await screen.reads("Mode: Agent → Plan");
  await screen.page.reload();
  await screen.isMode("plan");
  await screen.reads("Mode: Agent → Plan");
});

story("the mode can be chosen while an answer runs by below it", async ({ model, open }) => {
  const lines = Array.from({ length: 60 }, (_, number) => `line ${number}\n\n`);
  model.answers({ deltas: [...lines, "the last line"], hold: 30 });
  const screen = await open();
  await screen.say("go");
  await model.held();
  await screen.reads("line 29");
  await screen.mode.click();
  await screen.entry("plan").waitFor();
  model.release();
  await screen.reads("the last line");
  await screen.entry("plan").click();
  await screen.isMode("plan");
});
