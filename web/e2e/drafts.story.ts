import { expect } from "vitest";
import { COUNTED_RUN, calls, write } from "./toolCalls";
import { WITHOUT_SERVER, story } from "./story";

story("after a reload, a pending call can be approved and runs once", async ({ model, open, file }) => {
  model.answers(calls(COUNTED_RUN), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("approve").waitFor();
  await screen.page.reload();
  await screen.decision("approve").click();
  await screen.waitForText("Done.");
  expect(await file("count.txt")).toBe("ran\n");
  expect(await screen.userMessages.count()).toBe(1);
});

story("pending calls survive a killed server, and each runs once", async ({ model, host, open, file, allow }) => {
  allow(WITHOUT_SERVER);
  model.answers(calls(COUNTED_RUN, write("a.txt")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  const all = screen.decision("approveAll", { n: 2 });
  const hint = () => all.getAttribute("title");
  await all.waitFor();
  await screen.readCalls();
  await expect.poll(hint).toBeNull();
  await host.end("SIGKILL");
  await expect.poll(hint).toBe("You're offline");
  await all.click({ force: true });
  await host.start();
  await expect.poll(hint).toBeNull();
  await expect(file("count.txt")).rejects.toThrow();
  await all.click();
  await screen.waitForText("Done.");
  expect(await file("count.txt")).toBe("ran\n");
  expect(await file("a.txt")).toBe("a.txt\n");
  expect(await screen.userMessages.count()).toBe(1);
  await screen.page.reload();
  await screen.waitForText("Done.");
  expect(await screen.answers.getByText("Done.").count()).toBe(1);
});
