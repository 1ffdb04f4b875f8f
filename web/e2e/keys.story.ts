import { expect } from "vitest";
import { asks, run, write } from "./toolCalls";
import { story } from "./story";

story("Enter that belongs to a character being composed does not send", async ({ model, open }) => {
  model.answers("你好");
  const screen = await open({ language: "zh" });
  const keys = await screen.page.context().newCDPSession(screen.page);
  await screen.box.focus();
  await keys.send("Input.imeSetComposition", { text: "ni hao", selectionStart: 6, selectionEnd: 6 });
  await expect.poll(() => screen.box.inputValue()).toBe("ni hao");
  await keys.send("Input.dispatchKeyEvent", {
    type: "rawKeyDown",
    key: "Enter",
    code: "Enter",
    windowsVirtualKeyCode: 13,
  });
  await screen.page.keyboard.press("Control+.");
  await keys.send("Input.insertText", { text: "你好" });
  await expect.poll(() => screen.box.inputValue()).toBe("你好");
  expect(await screen.userMessages.count()).toBe(0);
  await screen.isMode("agent");
  await screen.page.keyboard.press("Enter");
  await screen.answers.getByText("你好").waitFor();
  await screen.showsUserMessages("你好");
});

story("from a new conversation to an approved call without a mouse", async ({ model, open, file }) => {
  model.answers(asks(write("log.txt")), "Done.");
  const screen = await open();
  const { keyboard } = screen.page;
  await keyboard.press("Control+.");
  await screen.isMode("supervised");
  await keyboard.press("Control+Shift+L");
  await keyboard.type("go");
  await keyboard.press("Enter");
  await screen.decision("approve").waitFor();
  await keyboard.press("Control+j");
  await screen.isFocused(screen.dock.getByRole("group").first());
  await screen.untilTabOn(screen.decision("approve"));
  await screen.isReady(screen.decision("approve"));
  await keyboard.press("Enter");
  await screen.reads("Done.");
  expect(await file("log.txt")).toBe("log.txt\n");
});

story(
  "keys decide nothing for half a second after a card has appeared, and then they do",
  async ({ model, open, file }) => {
    model.answers({ text: "See:", ...asks(write("log.txt")), hold: 1 }, "Done.");
    const screen = await open();
    const { clock, keyboard } = screen.page;
    await screen.choose("supervised");
    await screen.say("go");
    await model.held();
    await screen.transcript.focus();
    await clock.install();
    await clock.pauseAt(Date.now() + 5_000);
    model.release();
    for (let step = 0; (await screen.decision("approve").count()) === 0; step++) await clock.runFor(5);
    await keyboard.press("Control+j");
    await keyboard.press("Enter");
    await keyboard.press("1");
    await clock.runFor(100);
    await screen.decision("approve").waitFor();
    await expect(file("log.txt")).rejects.toThrow();
    await clock.resume();
    expect(await screen.box.inputValue()).toBe("1"); // a letter that decides nothing is typed
    await screen.readsCalls();
    await screen.isReady(screen.decision("approve"));
    await keyboard.press("Control+j");
    await keyboard.press("Enter");
    await screen.reads("Done.");
    expect(await file("log.txt")).toBe("log.txt\n");
  },
);

story(
  "a card that appears takes nothing from who is writing, and their keys stay letters",
  async ({ model, open, file }) => {
    model.answers({ text: "See:", ...asks(write("log.txt")), hold: 1 });
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await model.held();
    await screen.box.pressSequentially("and");
    model.release();
    await screen.decision("approve").waitFor();
    await screen.isFocused(screen.box);
    await screen.box.pressSequentially(" 1 3r");
    await screen.box.press("Shift+Enter");
    expect(await screen.box.inputValue()).toBe("and 1 3r\n");
    await screen.decision("approve").waitFor();
    await expect(file("log.txt")).rejects.toThrow();
  },
);

story(
  "what is typed after a card has appeared lands in the box, and Esc rejects nothing",
  async ({ model, open, file }) => {
    model.answers(asks(write("log.txt")), "Done.");
    const screen = await open();
    const { keyboard, clock } = screen.page;
    await clock.install();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.decision("approve").waitFor();
    await clock.fastForward(5_000);
    await screen.isReady(screen.decision("approve"));
    await keyboard.type("also run it 123");
    expect(await screen.box.inputValue()).toBe("also run it 123");
    await keyboard.press("Escape");
    await keyboard.press("Escape");
    await screen.box.evaluate((box) => (box as HTMLElement).blur());
    await keyboard.type("4r");
    await screen.isFocused(screen.box);
    expect(await screen.box.inputValue()).toBe("also run it 1234r");
    await keyboard.press("Control+j");
    await screen.isFocused(screen.dock.getByRole("group").first());
    await keyboard.press("Escape");
    await screen.isFocused(screen.box);
    await screen.decision("approve").waitFor();
    expect(await screen.transcript.getByText("rejected").count()).toBe(0);
    await keyboard.press("Control+j");
    await clock.fastForward(1_000);
    await keyboard.press("Enter");
    await screen.reads("Done.");
    expect(await file("log.txt")).toBe("log.txt\n");
    expect(await screen.box.inputValue()).toBe("also run it 1234r");
  },
);

story("Esc that leaves a card does not stop the turn that goes on", async ({ model, open }) => {
  model.answers(asks(write("log.txt")), { text: "Working on it.", hold: 2 });
  const screen = await open();
  const { keyboard, clock } = screen.page;
  await clock.install();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("approve").waitFor();
  await clock.fastForward(2_000);
  await screen.isReady(screen.decision("approve"));
  await keyboard.press("Control+j");
  await screen.isFocused(screen.dock.getByRole("group").first());
  await clock.fastForward(2_000);
  await keyboard.press("Enter");
  await model.held();
  await screen.isFocused(screen.box);
  await screen.transcript.focus();
  await screen.box.focus();
  await keyboard.press("Escape");
  await clock.fastForward(300);
  model.release();
  await screen.reads("Working on it.");
  await screen.rests();
  expect(await screen.page.getByText("Stopped.").count()).toBe(0);
});

story("a question takes no focus: who writes goes on, and a key leads to it", async ({ model, open }) => {
  model.answers(asks({ tool: "ask_user", arguments: { questions: [{ question: "Which colour?" }] } }), "Blue it is.");
  const screen = await open();
  const { keyboard, clock } = screen.page;
  await clock.install();
  await screen.say("go");
  const form = screen.page.getByRole("form", { name: screen.name("questions") });
  await form.waitFor();
  await clock.fastForward(5_000);
  await keyboard.type("one more thing");
  expect(await screen.box.inputValue()).toBe("one more thing");
  await keyboard.press("Control+j");
  await keyboard.type("Blue");
  await keyboard.press("Enter");
  await screen.reads("Blue it is.");
  expect(await screen.box.inputValue()).toBe("one more thing");
});

story("Enter does nothing on a dangerous call", async ({ model, open, put, file }) => {
  await put("old.txt", "old\n");
  model.answers(asks(run("rm old.txt")));
  const screen = await open();
  await screen.page.clock.install();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.isReady(screen.decision("approve"));
  await screen.page.keyboard.press("Control+j");
  await screen.page.clock.fastForward(2_000);
  await screen.page.keyboard.press("Enter");
  await screen.decision("approve").waitFor();
  expect(await file("old.txt")).toBe("old\n");
  await screen.page.keyboard.press("Escape");
  await screen.isFocused(screen.box);
  await screen.decision("approve").waitFor();
  await screen.page.keyboard.press("Control+j");
  await screen.page.keyboard.press("Control+Backspace");
  await screen.rests();
  await screen.call("rm old.txt").getByText("rejected").waitFor();
  expect(await file("old.txt")).toBe("old\n");
});
