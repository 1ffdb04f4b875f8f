import { expect } from "vitest";
import { COUNTS, asks, write } from "./toolCalls";
import { WITHOUT_SERVER, story } from "./story";

story("a page that is loaded again finds what waits, and the call runs once", async ({ model, open, file }) => {
  model.answers(asks(COUNTS), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.decision("approve").waitFor();
  await screen.page.reload();
  await screen.decision("approve").click();
  await screen.reads("Done.");
  expect(await file("count.txt")).toBe("ran\n");
  expect(await screen.userMessages.count()).toBe(1);
});

story(
  "a server that is killed while calls wait finds them again; each is decided and runs once",
  async ({ model, host, open, file, allow }) => {
    allow(WITHOUT_SERVER);
    model.answers(asks(COUNTS, write("a.txt")), "Done.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    const all = screen.decision("approveAll", { n: 2 });
    const hint = () => all.getAttribute("title");
    await all.waitFor();
    await screen.readsCalls();
    await expect.poll(hint).toBeNull();
    await host.end("SIGKILL");
    await expect.poll(hint).toBe("You're offline");
    await all.click({ force: true });
    await host.start();
    await expect.poll(hint).toBeNull();
    await expect(file("count.txt")).rejects.toThrow();
    await all.click();
    await screen.reads("Done.");
    expect(await file("count.txt")).toBe("ran\n");
    expect(await file("a.txt")).toBe("a.txt\n");
    expect(await screen.userMessages.count()).toBe(1);
    await screen.page.reload();
    await screen.reads("Done.");
    expect(await screen.answers.getByText("Done.").count()).toBe(1);
  },
);
