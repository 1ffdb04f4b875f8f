import { expect } from "vitest";
import { calls, run } from "./toolCalls";
import { story } from "./story";

story("an answer that reached the output limit can be continued", async ({ model, open }) => {
  model.answers({ text: "The first half", finish: "length" }, "and the second half.");
  const screen = await open();
  await screen.sendMessage("tell me");
  await screen.waitForText(/incomplete: the model reached its output limit/);
  await screen.waitUntilIdle();
  await screen.button("continue", screen.transcript).click();
  await screen.waitForText("and the second half.");
  await screen.waitUntilIdle();
  expect(await screen.button("continue", screen.transcript).count()).toBe(0);
});

story("a filtered answer offers to edit the message", async ({ model, open }) => {
  model.answers({ text: "Well,", finish: "content_filter" }, "Gladly.");
  const screen = await open({ language: "zh" });
  await screen.sendMessage("说点什么");
  await screen.waitForText(/内容过滤/);
  await screen.waitUntilIdle();
  const edit = screen.transcript.getByRole("button", { name: "编辑你的消息", exact: true });
  const other = screen.button("continue", screen.transcript);
  await edit.or(other).first().waitFor();
  if ((await edit.count()) > 0) {
    await edit.click();
    await screen.page.getByRole("textbox", { name: "编辑你的消息" }).waitFor();
  }
});

story("an answer that was stopped can be continued", async ({ model, open }) => {
  model.answers({ deltas: ["Once upon ", "a time"], hold: 2 }, "there was a ship.");
  const screen = await open();
  await screen.sendMessage("tell me a story");
  await model.waitForHold();
  await screen.waitForText("Once upon");
  await screen.button("stop").click();
  await screen.waitForText("Stopped.");
  await screen.button("continue", screen.transcript).click();
  await screen.waitForText("there was a ship.");
});

story("a command that exited with an error is not shown as done", async ({ model, open }) => {
  model.answers(calls(run("exit 3")), "It failed.");
  const screen = await open();
  await screen.sendMessage("go");
  await screen.waitForText("It failed.");
  const line = screen.callLine("exit 3");
  await line.getByText("failed, exit code 3").waitFor();
  expect(await line.getByText("done").count()).toBe(0);
});

story("a server that cannot save explains why, and retries on request", async ({ model, open, host, allow }) => {
  allow(/status of 50\d/);
  model.answers({ deltas: ["On ", "we go."], hold: 2 }, "All is well.");
  const screen = await open();
  await screen.sendMessage("go");
  await model.waitForHold();
  host.setWritable(false);
  model.release();
  const note = screen.page.getByRole("alert").filter({ hasText: "The server can't save this conversation" });
  await note.waitFor();
  await note.getByText(/Free up space on the server's disk/).waitFor();
  const again = screen.stateLine.getByRole("button", { name: "Retry now" });
  await again.waitFor();
  host.setWritable(true);
  await again.click();
  await note.waitFor({ state: "detached" });
});

story(
  "a full disk is reported at once, and the mode selector shows the server's mode",
  async ({ model, open, host, allow }) => {
    allow(/status of 50\d/);
    model.answers("Aye.", "Again.");
    const screen = await open();
    await screen.sendMessage("hello");
    await screen.waitUntilIdle();
    host.setWritable(false);
    await screen.chooseMode("supervised");
    const notices = screen.page.getByRole("region", { name: "Notifications" });
    await notices.getByText(/^Still in Agent mode: /).waitFor();
    await screen.waitForMode("agent");
    await screen.page.locator(".banner").filter({ hasText: "The server can't save" }).waitFor();
    await screen.composer.fill("and then");
    await screen.composer.press("Enter");
    const unsent = screen.page.getByRole("alert").filter({ hasText: "Not sent" });
    await unsent.waitFor();
    expect(model.requests.length).toBe(1);
    host.setWritable(true);
    await unsent.getByRole("button", { name: "Send again" }).click();
    await screen.waitForText("Again.");
    expect(await screen.userMessages.count()).toBe(2);
  },
);
