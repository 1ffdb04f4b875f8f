import { expect } from "vitest";
import { story } from "./story";

story("Enter that belongs to a character being composed does not send", async ({ model, open }) => {
  model.answers("你好");
  const screen = await open({ language: "zh" });
  const keys = await screen.page.context().newCDPSession(screen.page);
  await screen.box.focus();
  await keys.send("Input.imeSetComposition", { text: "ni hao", selectionStart: 6, selectionEnd: 6 });
  await expect.poll(() => screen.box.inputValue()).toBe("ni hao");
  await keys.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 });
  await screen.page.keyboard.press("Control+.");
  await keys.send("Input.insertText", { text: "你好" });
  await expect.poll(() => screen.box.inputValue()).toBe("你好");
  expect(await screen.said.count()).toBe(0);
  await screen.isMode("agent");
  await screen.page.keyboard.press("Enter");
  await screen.answers.getByText("你好").waitFor();
  expect(await screen.said.allTextContents()).toEqual([expect.stringContaining("你好")]);
});
