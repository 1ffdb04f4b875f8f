import type { Route } from "playwright-core";
import { expect } from "vitest";
import { WITHOUT_SERVER, story } from "./story";

story(
  "what is said appears at once, the answer while it is written, and a state in words meanwhile",
  async ({ model, open }) => {
    model.answers({ deltas: ["Land ", "in ", "sight."], hold: 2 });
    const screen = await open();
    const onTheWay: Route[] = [];
    await screen.page.route("**/messages", (route) => void onTheWay.push(route), { times: 1 });
    const saying = screen.say("What do you see?");
    await screen.userMessages.getByText("What do you see?").waitFor();
    await expect.poll(() => onTheWay.length).toBe(1);
    await onTheWay[0]?.continue();
    await saying;
    await model.held();
    await screen.answers.getByText("Land in").waitFor();
    await screen.button("stop").waitFor();
    expect(await screen.state.textContent()).toMatch(/\w/);
    model.release();
    await screen.answers.getByText("Land in sight.").waitFor();
    await screen.rests();
    expect(await screen.answers.count()).toBe(1);
    expect(await screen.userMessages.count()).toBe(1);
    expect((await model.asked(1)).messages.at(-1)).toMatchObject({ role: "user", content: "What do you see?" });
  },
);

story("a page that is loaded again in the middle of an answer shows all of it once", async ({ model, open }) => {
  model.answers({ deltas: ["one ", "two ", "three"], hold: 2 });
  const screen = await open();
  await screen.say("count");
  await model.held();
  await screen.answers.getByText("one two").waitFor();
  await screen.page.reload();
  await screen.answers.getByText("one two").waitFor();
  model.release();
  await screen.answers.getByText("one two three").waitFor();
  await screen.rests();
  expect(await screen.answers.count()).toBe(1);
  expect(await screen.userMessages.count()).toBe(1);
});

story(
  "a server that is killed in the middle of an answer loses nothing that was seen, and goes on",
  async ({ model, host, open, allow }) => {
    allow(WITHOUT_SERVER);
    model.answers({ deltas: ["one ", "two ", "three"], hold: 2 }, "four");
    const screen = await open();
    await screen.say("count");
    await model.held();
    await screen.answers.getByText("one two").waitFor();
    await host.end("SIGKILL");
    await host.start();
    await screen.button("continue").first().waitFor();
    await screen.answers.getByText("one two").waitFor();
    await screen.button("continue").first().click();
    await screen.answers.getByText("four").waitFor();
    await screen.rests();
    expect(await screen.answers.getByText("one two").count()).toBe(1);
    expect(await screen.userMessages.count()).toBe(1);
  },
);
