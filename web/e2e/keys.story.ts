import { expect } from "vitest";
import { calls, run, write } from "./toolCalls";
import { story } from "./story";

story("Enter during IME composition does not send", async ({ model, open }) => {
  model.answers("你好");
  const screen = await open({ language: "zh" });
  const keys = await screen.page.context().newCDPSession(screen.page);
  await screen.composer.focus();
  await keys.send("Input.imeSetComposition", { text: "ni hao", selectionStart: 6, selectionEnd: 6 });
  await expect.poll(() => screen.composer.inputValue()).toBe("ni hao");
  await keys.send("Input.dispatchKeyEvent", {
    type: "rawKeyDown",
    key: "Enter",
    code: "Enter",
    windowsVirtualKeyCode: 13,
  });
  await screen.page.keyboard.press("Control+.");
  await keys.send("Input.insertText", { text: "你好" });
  await expect.poll(() => screen.composer.inputValue()).toBe("你好");
  expect(await screen.userMessages.count()).toBe(0);
  await screen.waitForMode("agent");
  await screen.page.keyboard.press("Enter");
  await screen.answers.getByText("你好").waitFor();
  await screen.waitForUserMessages("你好");
});

story("a new conversation and an approval need no mouse", async ({ model, open, file }) => {
  model.answers(calls(write("log.txt")), "Done.");
  const screen = await open();
  const { keyboard } = screen.page;
  await keyboard.press("Control+.");
  await screen.waitForMode("supervised");
  await keyboard.press("Control+Shift+L");
  await keyboard.type("go");
  await keyboard.press("Enter");
  await screen.decision("approve").waitFor();
  await keyboard.press("Control+j");
  await screen.waitUntilFocused(screen.dock.getByRole("group").first());
  await screen.tabTo(screen.decision("approve"));
  await screen.waitUntilReady(screen.decision("approve"));
  await keyboard.press("Enter");
  await screen.waitForText("Done.");
  expect(await file("log.txt")).toBe("log.txt\n");
});

story("keys decide nothing within half a second after a card has appeared", async ({ model, open, file }) => {
  model.answers({ text: "See:", ...calls(write("log.txt")), hold: 1 }, "Done.");
  const screen = await open();
  const { clock, keyboard } = screen.page;
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await model.waitForHold();
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
  expect(await screen.composer.inputValue()).toBe("1"); // a letter that decides nothing is typed
  await screen.readCalls();
  await screen.waitUntilReady(screen.decision("approve"));
  await keyboard.press("Control+j");
  await keyboard.press("Enter");
  await screen.waitForText("Done.");
  expect(await file("log.txt")).toBe("log.txt\n");
});

story("a card that appears while the user types does not take focus or keys", async ({ model, open, file }) => {
  model.answers({ text: "See:", ...calls(write("log.txt")), hold: 1 });
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await model.waitForHold();
  await screen.composer.pressSequentially("and");
  model.release();
  await screen.decision("approve").waitFor();
  await screen.waitUntilFocused(screen.composer);
  await screen.composer.pressSequentially(" 1 3r");
  await screen.composer.press("Shift+Enter");
  expect(await screen.composer.inputValue()).toBe("and 1 3r\n");
  await screen.decision("approve").waitFor();
  await expect(file("log.txt")).rejects.toThrow();
});

story(
  "text typed after a card has appeared goes to the composer, and Esc rejects nothing",
  async ({ model, open, file }) => {
    model.answers(calls(write("log.txt")), "Done.");
    const screen = await open();
    const { keyboard, clock } = screen.page;
    await clock.install();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.decision("approve").waitFor();
    await clock.fastForward(5_000);
    await screen.waitUntilReady(screen.decision("approve"));
    await keyboard.type("also run it 123");
    expect(await screen.composer.inputValue()).toBe("also run it 123");
    await keyboard.press("Escape");
    await keyboard.press("Escape");
    await screen.composer.evaluate((box) => (box as HTMLElement).blur());
    await keyboard.type("4r");
    await screen.waitUntilFocused(screen.composer);
    expect(await screen.composer.inputValue()).toBe("also run it 1234r");
    await keyboard.press("Control+j");
    await screen.waitUntilFocused(screen.dock.getByRole("group").first());
    await keyboard.press("Escape");
    await screen.waitUntilFocused(screen.composer);
    await screen.decision("approve").waitFor();
    expect(await screen.transcript.getByText("rejected").count()).toBe(0);
    await keyboard.press("Control+j");
    await clock.fastForward(1_000);
    await keyboard.press("Enter");
    await screen.waitForText("Done.");
    expect(await file("log.txt")).toBe("log.txt\n");
    expect(await screen.composer.inputValue()).toBe("also run it 1234r");
  },
);

story("Esc that leaves a card does not stop the turn", async ({ model, open }) => {
  model.answers(calls(write("log.txt")), { text: "Working on it.", hold: 2 });
  const screen = await open();
  const { keyboard, clock } = screen.page;
  await clock.install();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("approve").waitFor();
  await clock.fastForward(2_000);
  await screen.waitUntilReady(screen.decision("approve"));
  await keyboard.press("Control+j");
  await screen.waitUntilFocused(screen.dock.getByRole("group").first());
  await clock.fastForward(2_000);
  await keyboard.press("Enter");
  await model.waitForHold();
  await screen.waitUntilFocused(screen.composer);
  await screen.transcript.focus();
  await screen.composer.focus();
  await keyboard.press("Escape");
  await clock.fastForward(300);
  model.release();
  await screen.waitForText("Working on it.");
  await screen.waitUntilIdle();
  expect(await screen.page.getByText("Stopped.").count()).toBe(0);
});

story("a question does not take the focus, and a shortcut leads to it", async ({ model, open }) => {
  model.answers(calls({ tool: "ask_user", arguments: { questions: [{ question: "Which colour?" }] } }), "Blue it is.");
  const screen = await open();
  const { keyboard, clock } = screen.page;
  await clock.install();
  await screen.sendMessage("go");
  const form = screen.page.getByRole("form", { name: screen.name("questions") });
  await form.waitFor();
  await clock.fastForward(5_000);
  await keyboard.type("one more thing");
  expect(await screen.composer.inputValue()).toBe("one more thing");
  await keyboard.press("Control+j");
  await keyboard.type("Blue");
  await keyboard.press("Enter");
  await screen.waitForText("Blue it is.");
  expect(await screen.composer.inputValue()).toBe("one more thing");
});

story("Enter does nothing on a dangerous call", async ({ model, open, put, file }) => {
  await put("old.txt", "old\n");
  model.answers(calls(run("rm old.txt")));
  const screen = await open();
  await screen.page.clock.install();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("approve"));
  await screen.page.keyboard.press("Control+j");
  await screen.page.clock.fastForward(2_000);
  await screen.page.keyboard.press("Enter");
  await screen.decision("approve").waitFor();
  expect(await file("old.txt")).toBe("old\n");
  await screen.page.keyboard.press("Escape");
  await screen.waitUntilFocused(screen.composer);
  await screen.decision("approve").waitFor();
  await screen.page.keyboard.press("Control+j");
  await screen.page.keyboard.press("Control+Backspace");
  await screen.waitUntilIdle();
  await screen.callLine("rm old.txt").getByText("rejected").waitFor();
  expect(await file("old.txt")).toBe("old\n");
});
