import type { Page } from "playwright-core";
import { expect } from "vitest";
import { longConversation } from "./longConversation";
import type { Screen } from "./screen";
import { type World, story } from "./story";

const PIECES = Array.from({ length: 120 }, (_, number) => `piece ${number} of a long answer that goes on and on.\n\n`);

/** The distance between the viewport and the end of the transcript. */
const left = (page: Page) =>
  page.getByRole("log").evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
const top = (page: Page) => page.getByRole("log").evaluate((list) => list.scrollTop);

/** The row at the upper edge and its position. */
function reading(page: Page) {
  return page.getByRole("log").evaluate((list) => {
    const edge = list.getBoundingClientRect().top;
    const row = [...list.querySelectorAll("[data-row]")].find((each) => each.getBoundingClientRect().bottom > edge + 1);
    return { id: row?.getAttribute("data-row") ?? "", offset: (row?.getBoundingClientRect().top ?? 0) - edge };
  });
}

/** The current position of a row. */
function placeOf(page: Page, id: string) {
  return page.getByRole("log").evaluate((list, wanted) => {
    const row = list.querySelector(`[data-row="${wanted}"]`);
    return row === null ? null : row.getBoundingClientRect().top - list.getBoundingClientRect().top;
  }, id);
}

/** Waits until position and height of the list are the same in five consecutive frames. */
const settled = (page: Page) =>
  page.getByRole("log").evaluate(
    (list) =>
      new Promise<void>((done) => {
        let [before, same] = ["", 0];
        const look = () => {
          const now = `${list.scrollTop} ${list.scrollHeight} ${list.clientHeight}`;
          same = now === before ? same + 1 : 0;
          before = now;
          if (same >= 5) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );

async function wheel(screen: Screen, distance: number): Promise<void> {
  await screen.transcript.hover();
  await screen.page.mouse.wheel(0, distance);
}

async function activeId({ host }: World): Promise<string> {
  const answer = await fetch(`${host.base}/api/session`, { headers: host.headers });
  return ((await answer.json()) as { active_context_id: string }).active_context_id;
}

/** A long conversation with an answer that pauses in the middle. */
async function writing({ model, host, open }: World, count = 60): Promise<Screen> {
  await longConversation(host, count);
  const screen = await open({ height: 600 });
  await screen.reads(`${count - 1} `);
  model.answers({ deltas: PIECES, hold: 60 });
  await screen.say("go on");
  await model.held();
  await screen.reads("piece 58 ");
  await settled(screen.page);
  return screen;
}

story("an answer is followed to its last line, in one and the same row, while a menu stays open", async (world) => {
  const screen = await writing(world);
  await screen.mode.click();
  await expect.poll(() => left(screen.page)).toBeLessThanOrEqual(1);
  await screen.page
    .locator("[data-row]")
    .last()
    .evaluate((row) => row.setAttribute("data-mark", "mine"));
  world.model.release();
  await screen.reads("piece 119 ");
  await screen.rests();
  expect(await screen.page.locator('[data-mark="mine"]').last().textContent()).toContain("piece 119 ");
  await expect.poll(() => left(screen.page)).toBeLessThanOrEqual(1);
  await screen.entry("plan").waitFor();
});

story(
  "one pixel upwards ends the following, and nothing moves the reader until they are back at the end",
  async (world) => {
    const screen = await writing(world);
    await wheel(screen, -1);
    await expect.poll(() => left(screen.page)).toBeGreaterThan(0.5);
    const before = await reading(screen.page);
    world.model.release();
    await screen.rests();
    await expect.poll(() => left(screen.page)).toBeGreaterThan(1_000);
    expect(Math.abs(((await placeOf(screen.page, before.id)) ?? 1e9) - before.offset)).toBeLessThanOrEqual(0.5);
    await screen.page.getByRole("button", { name: "Jump to bottom" }).click();
    await expect.poll(() => left(screen.page)).toBeLessThanOrEqual(1);
    world.model.answers("And that is all.");
    await screen.say("so?");
    await screen.reads("And that is all.");
    await expect.poll(() => left(screen.page)).toBeLessThanOrEqual(1);
  },
);

story(
  "who reads further up is not moved by pieces, the end of the answer, a resize, a theme or another font",
  async (world) => {
    const screen = await writing(world);
    const { page } = screen;
    await wheel(screen, -700);
    await expect.poll(() => left(page)).toBeGreaterThan(600);
    await settled(page);
    const before = await reading(page);
    const drift = async () => Math.abs(((await placeOf(page, before.id)) ?? 1e9) - before.offset);
    world.model.release();
    await screen.rests();
    await settled(page);
    expect(await drift()).toBeLessThanOrEqual(0.5);
    await page.setViewportSize({ width: 1280, height: 500 });
    await settled(page);
    expect(await drift()).toBeLessThanOrEqual(0.5);
    await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
    await settled(page);
    expect(await drift()).toBeLessThanOrEqual(0.5);
    world.model.answers("And then?");
    await fetch(`${world.host.base}/api/contexts/${await activeId(world)}/messages`, {
      method: "POST",
      headers: { ...world.host.headers, "content-type": "application/json" },
      body: JSON.stringify({ payload: { type: "text", content: "from elsewhere" } }),
    });
    await page.getByRole("button", { name: "2 new", exact: true }).waitFor();
    expect(await drift()).toBeLessThanOrEqual(0.5);
  },
);

story("older messages come above without a jump, as far as the first", async ({ host, open }) => {
  await longConversation(host, 200);
  const screen = await open({ height: 600 });
  const { page } = screen;
  await screen.reads("199 ");
  for (let round = 0; round < 200; round++) {
    if ((await page.getByText("Loading earlier messages").count()) === 0 && (await top(page)) < 1) break;
    await wheel(screen, -1_700);
    await settled(page);
    const before = await reading(page);
    await settled(page);
    const after = await placeOf(page, before.id);
    if (after !== null) expect(Math.abs(after - before.offset), `round ${round}`).toBeLessThanOrEqual(0.5);
  }
  await screen.userMessages.getByText(/^0 /).waitFor();
  expect(await page.locator("[data-row]").count()).toBeLessThan(80);
});

story("the row that has the focus stays, however far away", async (world) => {
  const screen = await writing(world);
  const { page } = screen;
  await page.getByRole("button", { name: /^Go to your message/ }).click();
  await screen.userMessages.getByText("go on").locator("xpath=ancestor::article").getByRole("button").first().focus();
  await wheel(screen, -20_000);
  await expect.poll(() => left(page)).toBeGreaterThan(2_000);
  world.model.release();
  await screen.rests();
  expect(await page.evaluate(() => document.activeElement?.closest("[data-row]")?.textContent ?? "")).toContain(
    "go on",
  );
  await page.keyboard.press("End");
  await expect.poll(() => left(page)).toBeLessThanOrEqual(1);
});

story("a conversation is where it was left, when somebody comes back to it", async ({ host, open }) => {
  await longConversation(host, 80, "one");
  await longConversation(host, 80, "other");
  const screen = await open({ height: 600 });
  const { page } = screen;
  const go = (title: string) =>
    page.getByRole("list", { name: "Open conversations" }).getByRole("button", { name: title, exact: true }).click();
  await go("one");
  await go("other");
  await screen.reads("79 ");
  await wheel(screen, -1_500);
  await expect.poll(() => left(page)).toBeGreaterThan(1_000);
  await settled(page);
  const before = await reading(page);
  await go("one");
  await expect.poll(() => placeOf(page, before.id)).toBe(null);
  await expect.poll(() => left(page)).toBeLessThanOrEqual(1);
  await go("other");
  await expect
    .poll(async () => Math.abs(((await placeOf(page, before.id)) ?? 1e9) - before.offset))
    .toBeLessThanOrEqual(0.5);
});

story("keys scroll the conversation, and the message that was scrolled past stands above it", async (world) => {
  const screen = await writing(world);
  const { page } = screen;
  const past = page.getByRole("button", { name: /^Go to your message: go on/ });
  await past.waitFor();
  await screen.transcript.focus();
  await page.keyboard.press("PageUp");
  await expect.poll(() => left(page)).toBeGreaterThan(300);
  await page.keyboard.press("Home");
  await expect.poll(() => left(page)).toBeGreaterThan(2_000);
  await page.keyboard.press("End");
  await expect.poll(() => left(page)).toBeLessThanOrEqual(1);
  await past.click();
  await past.waitFor({ state: "detached" });
  expect(await screen.userMessages.last().textContent()).toContain("go on");
});

story("End takes effect while the browser still scrolls by the key pressed before", async (world) => {
  const { page, transcript } = await writing(world);
  await transcript.focus();
  for (let press = 0; press < 5; press++) {
    await page.keyboard.press("PageUp");
    await page.keyboard.press("End");
    for (let time = 0; time < 6; time++) await settled(page); // longer than the smooth scroll of the browser
    expect(await left(page)).toBeLessThanOrEqual(1);
  }
});

story("a menu stays open while an answer is followed", async (world) => {
  const screen = await writing(world);
  await screen.mode.click();
  await screen.entry("plan").waitFor();
  world.model.release();
  await screen.reads("piece 119 ");
  await screen.rests();
  await screen.entry("plan").waitFor();
  await expect.poll(() => left(screen.page)).toBeLessThanOrEqual(1);
});
