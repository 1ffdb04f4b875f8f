import { expect } from "vitest";
import { asks, run } from "./toolCalls";
import { story } from "./story";

story("an answer that reached the output limit says so, and goes on", async ({ model, open }) => {
  model.answers({ text: "The first half", finish: "length" }, "and the second half.");
  const screen = await open();
  await screen.say("tell me");
  await screen.reads(/incomplete: the model reached its output limit/);
  await screen.rests();
  await screen.button("continue", screen.transcript).click();
  await screen.reads("and the second half.");
  await screen.rests();
  expect(await screen.button("continue", screen.transcript).count()).toBe(0);
});

story("an answer that was filtered leads to saying it otherwise", async ({ model, open }) => {
  model.answers({ text: "Well,", finish: "content_filter" }, "Gladly.");
  const screen = await open({ language: "zh" });
  await screen.say("说点什么");
  await screen.reads(/内容过滤/);
  await screen.rests();
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
  await screen.say("tell me a story");
  await model.held();
  await screen.reads("Once upon");
  await screen.button("stop").click();
  await screen.reads("Stopped.");
  await screen.button("continue", screen.transcript).click();
  await screen.reads("there was a ship.");
});

story("a command that exited with an error is not shown as done", async ({ model, open }) => {
  model.answers(asks(run("exit 3")), "It failed.");
  const screen = await open();
  await screen.say("go");
  await screen.reads("It failed.");
  const line = screen.call("exit 3");
  await line.getByText("failed, exit code 3").waitFor();
  expect(await line.getByText("done").count()).toBe(0);
});

story("a server that cannot save says why and what to do, and tries again", async ({ model, open, host, allow }) => {
  allow(/status of 50\d/);
  model.answers({ deltas: ["On ", "we go."], hold: 2 }, "All is well.");
  const screen = await open();
  await screen.say("go");
  await model.held();
  host.setWritable(false);
  model.release();
  const note = screen.page.getByRole("alert").filter({ hasText: "The server can't save this conversation" });
  await note.waitFor();
  await note.getByText(/Free up space on the server's disk/).waitFor();
  const again = screen.state.getByRole("button", { name: "Retry now" });
  await again.waitFor();
  host.setWritable(true);
  await again.click();
  await note.waitFor({ state: "detached" });
});

story(
  "a full disk is told at once, and the mode is shown as the server has it",
  async ({ model, open, host, allow }) => {
    allow(/status of 50\d/);
    model.answers("Aye.", "Again.");
    const screen = await open();
    await screen.say("hello");
    await screen.rests();
    host.setWritable(false);
    await screen.choose("supervised");
    const notices = screen.page.getByRole("region", { name: "Notifications" });
    await notices.getByText(/^Still in Agent mode: /).waitFor();
    await screen.isMode("agent");
    await screen.page.locator(".banner").filter({ hasText: "The server can't save" }).waitFor();
    await screen.box.fill("and then");
    await screen.box.press("Enter");
    const unsent = screen.page.getByRole("alert").filter({ hasText: "Not sent" });
    await unsent.waitFor();
    expect(model.requests.length).toBe(1);
    host.setWritable(true);
    await unsent.getByRole("button", { name: "Send again" }).click();
    await screen.reads("Again.");
    expect(await screen.userMessages.count()).toBe(2);
  },
);
