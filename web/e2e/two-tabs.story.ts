import { expect } from "vitest";
import { COUNTED_RUN, calls, write } from "./toolCalls";
import { story } from "./story";

story("tabs, messages and the mode are synchronized between browser tabs", async ({ model, open }) => {
  model.answers({ deltas: ["one ", "two"], hold: 1 }, "three");
  const first = await open();
  const second = await open();
  await first.sendMessage("count");
  await second.tab("count").click();
  await second.userMessages.getByText("count").waitFor();
  await model.waitForHold();
  await second.answers.getByText("one").waitFor();
  model.release();
  await second.answers.getByText("one two").waitFor();
  await second.waitUntilIdle();
  await first.chooseMode("ask");
  await second.waitForMode("ask");
  await second.sendMessage("on");
  await first.answers.getByText("three").waitFor();
  await first.waitUntilIdle();
  for (const screen of [first, second]) {
    await screen.waitForUserMessages("count", "on");
    expect(await screen.answers.count()).toBe(2);
  }
});

story("closing a conversation closes it in the other browser tab", async ({ model, open }) => {
  model.answers("one");
  const first = await open();
  const second = await open();
  await first.sendMessage("count");
  const tab = second.tab("count");
  await tab.waitFor();
  await first.page.getByRole("button", { name: "Close count" }).click();
  await tab.waitFor({ state: "detached" });
});

story(
  "a call approved in one browser tab shows as decided in the other, and runs once",
  async ({ model, open, file }) => {
    model.answers(calls(COUNTED_RUN), "Done.");
    const first = await open();
    const second = await open();
    await first.chooseMode("supervised");
    await first.sendMessage("go");
    await second.tab("go").click();
    await second.decision("approve").waitFor();
    await first.decision("approve").click();
    await second.dock.getByText("Already decided").waitFor();
    expect(await second.decision("approve").count()).toBe(0);
    await second.waitForText("Done.");
    await second.callLine("echo ran").getByText("done").waitFor();
    expect(await file("count.txt")).toBe("ran\n");
  },
);

story("a new title shows in the other browser tab", async ({ model, open }) => {
  model.answers("one");
  const first = await open();
  const second = await open();
  await first.sendMessage("count");
  await first.waitUntilIdle();
  await first.page.getByRole("button", { name: "Conversation options" }).click();
  await first.page.getByRole("menuitem", { name: "Rename" }).click();
  await first.page.getByRole("dialog").getByRole("textbox").fill("Soundings");
  await first.page.keyboard.press("Enter");
  for (const screen of [first, second]) {
    await screen.tab("Soundings").waitFor();
    await screen.page.getByRole("navigation").getByText("Soundings").waitFor();
  }
  await first.page.getByRole("heading", { name: "Soundings", level: 1 }).waitFor();
  await second.page.locator(".welcome-recent").getByText("Soundings").waitFor();
});

story(
  "a late decision shows the actual decision and its author, also from the edit panel",
  async ({ model, open, request, file, allow }) => {
    allow(/status of 409/);
    model.answers(calls(write("log.txt")), calls(write("other.txt")), "Done.");
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.waitUntilReady(screen.decision("approve"));
    const context = new URL(screen.page.url()).hash.replace("#/c/", "");
    const decide = /tool-calls\/decide$/;
    // Holds our own request until another client has decided.
    const approveFirst = async () => {
      const { items } = await request<{ items: { id: string }[] }>(
        "GET",
        `/api/contexts/${context}/tool-calls?status=pending`,
      );
      for (const { id } of items) await request("POST", `/api/contexts/${context}/tool-calls/${id}/approve`, {});
    };
    await screen.page.route(decide, async (route) => {
      await approveFirst();
      await route.continue();
    });
    await screen.decision("reject").click();
    await screen.dock.getByText(/by you/).waitFor();
    await screen.waitUntilReady(screen.decision("approve"));
    await screen.decision("edit").click();
    const area = screen.dock.getByRole("textbox");
    await area.fill(JSON.stringify({ path: "other.txt", content: "mine" }));
    await screen.waitUntilReady(screen.decision("editSend"));
    await screen.decision("editSend").click();
    await screen.waitForText("Done.");
    expect(await screen.dock.getByRole("alert").count()).toBe(0);
    expect([await file("log.txt"), await file("other.txt")]).toEqual(["log.txt\n", "other.txt\n"]);
  },
);

story("unsent feedback moves to the composer when its call is decided elsewhere", async ({ model, open, request }) => {
  model.answers(calls(write("a.txt"), write("b.txt")));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("2 actions need approval").waitFor();
  await screen.readCalls();
  await screen.waitUntilReady(screen.decision("approveAll", { n: 2 }));
  const context = new URL(screen.page.url()).hash.replace("#/c/", "");
  const path = `/api/contexts/${context}/tool-calls`;
  const { items } = await request<{ items: { id: string; arguments: { path: string } }[] }>(
    "GET",
    `${path}?status=pending`,
  );
  await screen.dock.getByRole("group").filter({ hasText: "a.txt" }).last().focus();
  await screen.page.keyboard.press("r");
  await screen.waitUntilFocused(screen.dock.getByRole("textbox"));
  await screen.page.keyboard.type("make it ");
  await request("POST", `${path}/${items.find((each) => each.arguments.path === "a.txt")!.id}/reject`, {});
  await screen.dock.getByRole("textbox").waitFor({ state: "detached" });
  await screen.waitUntilFocused(screen.composer);
  await screen.page.keyboard.type(" 3 r");
  expect(await screen.composer.inputValue()).toContain("make it");
  expect(await screen.composer.inputValue()).toContain("3 r");
  const remaining = await request<{ items: object[] }>("GET", `${path}?status=pending`);
  expect(remaining.items.length).toBe(1);
});
