import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import type { PageBranchView, PageContextSummary } from "../src/api/schema";
import { calls } from "./toolCalls";
import { story } from "./story";

story(
  "messages sent during a turn are queued, editable and removable, and sent afterwards",
  async ({ model, open }) => {
    model.answers({ deltas: ["one ", "two"], hold: 1 }, "three", "four");
    const screen = await open();
    await screen.sendMessage("count");
    await model.waitForHold();
    for (const text of ["first", "second", "third"]) await screen.sendMessage(text);
    const queue = screen.page.getByRole("region", { name: "Queued messages" });
    await queue.getByRole("listitem").nth(2).waitFor();
    const item = (text: string) => queue.getByRole("listitem").filter({ hasText: text });
    await item("second").getByRole("button", { name: "Remove" }).click();
    await item("second").waitFor({ state: "detached" });
    await item("third").getByRole("button", { name: "Edit" }).click();
    await queue.getByRole("textbox").fill("last");
    await queue.getByRole("button", { name: "Save" }).click();
    await item("last").getByRole("button", { name: "Remove" }).waitFor();
    expect(model.requests.length).toBe(1);
    model.release();
    await screen.waitForText("four");
    await screen.waitUntilIdle();
    await screen.waitForUserMessages("count", "first", "last");
    expect((await model.waitForRequest(3)).messages.at(-1)).toMatchObject({ content: "last" });
  },
);

story("editing a message creates a branch and keeps the old one", async ({ model, request, open }) => {
  model.answers("Red.", "Blue.");
  const screen = await open();
  await screen.sendMessage("name a colour");
  await screen.waitForText("Red.");
  await screen.waitUntilIdle();
  await screen.page.evaluate(() => localStorage.setItem("pilothouse-send-keys", "mod-enter"));
  await screen.page.reload();
  await screen.page.getByRole("button", { name: "Send (Ctrl+Enter)" }).waitFor();
  await screen.userMessages.hover();
  await screen.userMessages.getByRole("button", { name: "Edit and resend" }).click();
  const editor = screen.page.getByRole("textbox", { name: "Edit your message" });
  await editor.fill("name another");
  await editor.press("Enter");
  await editor.pressSequentially("colour");
  await editor.press("Control+Enter");
  await screen.waitForText("Blue.");
  await screen.waitUntilIdle();
  await screen.waitForUserMessages("name another\ncolour");
  const { items } = await request<PageContextSummary>("GET", "/api/contexts");
  const branches = await request<PageBranchView>("GET", `/api/contexts/${items[0]?.context_id}/branches`);
  expect(branches.items.length).toBe(2);
});

story("an error explains itself, and Continue retries the turn", async ({ model, open }) => {
  model.answers({ error: { status: 400, message: "the hold is full" } }, "On we go.");
  const screen = await open();
  await screen.sendMessage("go");
  const bubble = screen.page.getByRole("article", { name: "Error" });
  await bubble.getByText(/the hold is full/).waitFor();
  await bubble.getByRole("button", { name: "Continue" }).click();
  await screen.waitForText("On we go.");
  await screen.waitUntilIdle();
  expect(await screen.userMessages.count()).toBe(1);
});

story("a question is shown as a form, and the model receives the answers", async ({ model, open }) => {
  const questions = [{ question: "Which port?", options: ["north", "south"] }, { question: "How many hands?" }];
  model.answers(calls({ tool: "ask_user", arguments: { questions } }), "South it is.");
  const screen = await open();
  await screen.sendMessage("go");
  const form = screen.page.getByRole("form", { name: "Question from the agent" });
  await form.getByRole("textbox", { name: "Your answer" }).fill("seven");
  await screen.page.keyboard.press("Enter"); // a question is unanswered
  await screen.waitUntilFocused(form.getByRole("radio", { name: "north" }));
  await form.getByRole("radio", { name: "south" }).check();
  await screen.page.reload();
  await expect.poll(() => form.getByRole("radio", { name: "south" }).isChecked()).toBe(true);
  await screen.waitUntilReady(screen.button("answer", form)); // connected again
  await form.getByRole("textbox", { name: "Your answer" }).press("Enter");
  await screen.waitForText("South it is.");
  const answers = JSON.stringify((await model.waitForRequest(2)).messages.at(-1));
  expect(answers).toContain("south");
  expect(answers).toContain("seven");
});

story("a conversation can be exported as Markdown and as a file", async ({ model, open }) => {
  model.answers("Land in sight.");
  const screen = await open();
  await screen.sendMessage("look out");
  await screen.waitUntilIdle();
  for (const [entry, content] of [
    ["Export as Markdown", /look out[^]*Land in sight\./],
    ["Export as a file", /"Land in sight\."/],
  ] as const) {
    await screen.page.getByRole("button", { name: "Conversation options" }).click();
    const started = screen.page.waitForEvent("download");
    await screen.page.getByRole("menuitem", { name: entry }).click();
    expect(await readFile(await (await started).path(), "utf8")).toMatch(content);
  }
});
