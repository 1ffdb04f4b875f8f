import { expect } from "vitest";
import { COUNTS, asks, write } from "./toolCalls";
import { story } from "./story";

story("what happens on one page shows on the other: tabs, words, the mode", async ({ model, open }) => {
  model.answers({ deltas: ["one ", "two"], hold: 1 }, "three");
  const first = await open();
  const second = await open();
  await first.say("count");
  await second.tab("count").click();
  await second.userMessages.getByText("count").waitFor();
  await model.held();
  await second.answers.getByText("one").waitFor();
  model.release();
  await second.answers.getByText("one two").waitFor();
  await second.rests();
  await first.choose("ask");
  await second.isMode("ask");
  await second.say("on");
  await first.answers.getByText("three").waitFor();
  await first.rests();
  for (const screen of [first, second]) {
    await screen.showsUserMessages("count", "on");
    expect(await screen.answers.count()).toBe(2);
  }
});

story("a tab that is closed on one page is closed on the other", async ({ model, open }) => {
  model.answers("one");
  const first = await open();
  const second = await open();
  await first.say("count");
  const tab = second.tab("count");
  await tab.waitFor();
  await first.page.getByRole("button", { name: "Close count" }).click();
  await tab.waitFor({ state: "detached" });
});

story(
  "a call that is approved on one page shows as answered on the other, and runs once",
  async ({ model, open, file }) => {
    model.answers(asks(COUNTS), "Done.");
    const first = await open();
    const second = await open();
    await first.choose("supervised");
    await first.say("go");
    await second.tab("go").click();
    await second.decision("approve").waitFor();
    await first.decision("approve").click();
    await second.dock.getByText("Already decided").waitFor();
    expect(await second.decision("approve").count()).toBe(0);
    await second.reads("Done.");
    await second.call("echo ran").getByText("done").waitFor();
    expect(await file("count.txt")).toBe("ran\n");
  },
);

story("a new title shows on the other page, too", async ({ model, open }) => {
  model.answers("one");
  const first = await open();
  const second = await open();
  await first.say("count");
  await first.rests();
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
  "a decision that comes too late says what was decided and by whom, also from the panel for arguments",
  async ({ model, open, ask, file, allow }) => {
    allow(/status of 409/);
    model.answers(asks(write("log.txt")), asks(write("other.txt")), "Done.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.isReady(screen.decision("approve"));
    const context = new URL(screen.page.url()).hash.replace("#/c/", "");
    const decide = /tool-calls\/decide$/;
    // Holds our own request until another client has decided.
    const beforeOurs = async () => {
      const { items } = await ask<{ items: { id: string }[] }>(
        "GET",
        `/api/contexts/${context}/tool-calls?status=pending`,
      );
      for (const { id } of items) await ask("POST", `/api/contexts/${context}/tool-calls/${id}/approve`, {});
    };
    await screen.page.route(decide, async (route) => {
      await beforeOurs();
      await route.continue();
    });
    await screen.decision("reject").click();
    await screen.dock.getByText(/by you/).waitFor();
    await screen.isReady(screen.decision("approve"));
    await screen.decision("edit").click();
    const area = screen.dock.getByRole("textbox");
    await area.fill(JSON.stringify({ path: "other.txt", content: "mine" }));
    await screen.isReady(screen.decision("editSend"));
    await screen.decision("editSend").click();
    await screen.reads("Done.");
    expect(await screen.dock.getByRole("alert").count()).toBe(0);
    expect([await file("log.txt"), await file("other.txt")]).toEqual(["log.txt\n", "other.txt\n"]);
  },
);

story(
  "who writes about a call that is decided elsewhere goes on in the box, and decides no other call",
  async ({ model, open, ask }) => {
    model.answers(asks(write("a.txt"), write("b.txt")));
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    await screen.dock.getByText("2 actions need approval").waitFor();
    await screen.readsCalls();
    await screen.isReady(screen.decision("approveAll", { n: 2 }));
    const context = new URL(screen.page.url()).hash.replace("#/c/", "");
    const path = `/api/contexts/${context}/tool-calls`;
    const { items } = await ask<{ items: { id: string; arguments: { path: string } }[] }>(
      "GET",
      `${path}?status=pending`,
    );
    await screen.dock.getByRole("group").filter({ hasText: "a.txt" }).last().focus();
    await screen.page.keyboard.press("r");
    await screen.isFocused(screen.dock.getByRole("textbox"));
    await screen.page.keyboard.type("make it ");
    await ask("POST", `${path}/${items.find((each) => each.arguments.path === "a.txt")!.id}/reject`, {});
    await screen.dock.getByRole("textbox").waitFor({ state: "detached" });
    await screen.isFocused(screen.box);
    await screen.page.keyboard.type(" 3 r");
    expect(await screen.box.inputValue()).toContain("make it");
    expect(await screen.box.inputValue()).toContain("3 r");
    const left = await ask<{ items: object[] }>("GET", `${path}?status=pending`);
    expect(left.items.length).toBe(1);
  },
);
