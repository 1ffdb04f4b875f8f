import type { Route } from "playwright-core";
import { expect } from "vitest";
import { WITHOUT_SERVER, story } from "./story";

story("a message appears at once, its answer while it streams, and the state in words", async ({ model, open }) => {
  model.answers({ deltas: ["Land ", "in ", "sight."], hold: 2 });
  const screen = await open();
  const heldRoutes: Route[] = [];
  await screen.page.route("**/messages", (route) => void heldRoutes.push(route), { times: 1 });
  const sending = screen.sendMessage("What do you see?");
  await screen.userMessages.getByText("What do you see?").waitFor();
  await expect.poll(() => heldRoutes.length).toBe(1);
  await heldRoutes[0]?.continue();
  await sending;
  await model.waitForHold();
  await screen.answers.getByText("Land in").waitFor();
  await screen.button("stop").waitFor();
  expect(await screen.stateLine.textContent()).toMatch(/\w/);
  model.release();
  await screen.answers.getByText("Land in sight.").waitFor();
  await screen.waitUntilIdle();
  expect(await screen.answers.count()).toBe(1);
  expect(await screen.userMessages.count()).toBe(1);
  expect((await model.waitForRequest(1)).messages.at(-1)).toMatchObject({
    role: "user",
    content: "What do you see?",
  });
});

story("reloading in the middle of an answer shows the complete answer once", async ({ model, open }) => {
  model.answers({ deltas: ["one ", "two ", "three"], hold: 2 });
  const screen = await open();
  await screen.sendMessage("count");
  await model.waitForHold();
  await screen.answers.getByText("one two").waitFor();
  await screen.page.reload();
  await screen.answers.getByText("one two").waitFor();
  model.release();
  await screen.answers.getByText("one two three").waitFor();
  await screen.waitUntilIdle();
  expect(await screen.answers.count()).toBe(1);
  expect(await screen.userMessages.count()).toBe(1);
});

story(
  "killing the server in the middle of an answer loses nothing that was displayed",
  async ({ model, host, open, allow }) => {
    allow(WITHOUT_SERVER);
    model.answers({ deltas: ["one ", "two ", "three"], hold: 2 }, "four");
    const screen = await open();
    await screen.sendMessage("count");
    await model.waitForHold();
    await screen.answers.getByText("one two").waitFor();
    await host.end("SIGKILL");
    await host.start();
    await screen.button("continue").first().waitFor();
    await screen.answers.getByText("one two").waitFor();
    await screen.button("continue").first().click();
    await screen.answers.getByText("four").waitFor();
    await screen.waitUntilIdle();
    expect(await screen.answers.getByText("one two").count()).toBe(1);
    expect(await screen.userMessages.count()).toBe(1);
  },
);
