import type { Page } from "playwright-core";
import { expect } from "vitest";
import { longConversation } from "./longConversation";
import type { Screen } from "./screen";
import { type World, story } from "./story";

const PIECES = Array.from({ length: 120 }, (_, number) => `piece ${number} of a long answer that goes on and on.\n\n`);

/** The distance between the viewport and the end of the transcript. */
const distanceToEnd = (page: Page) =>
  page.getByRole("log").evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
const scrollTop = (page: Page) => page.getByRole("log").evaluate((list) => list.scrollTop);

/** The row at the upper edge and its position. */
function firstVisibleRow(page: Page) {
  return page.getByRole("log").evaluate((list) => {
    const edge = list.getBoundingClientRect().top;
    const row = [...list.querySelectorAll("[data-row]")].find((each) => each.getBoundingClientRect().bottom > edge + 1);
    return { id: row?.getAttribute("data-row") ?? "", offset: (row?.getBoundingClientRect().top ?? 0) - edge };
  });
}

/** The current position of a row. */
function rowOffset(page: Page, id: string) {
  return page.getByRole("log").evaluate((list, rowId) => {
    const row = list.querySelector(`[data-row="${rowId}"]`);
    return row === null ? null : row.getBoundingClientRect().top - list.getBoundingClientRect().top;
  }, id);
}

/** Waits until position and height of the list are the same in five consecutive frames. */
const waitUntilStable = (page: Page) =>
  page.getByRole("log").evaluate(
    (list) =>
      new Promise<void>((done) => {
        let [before, stableFrames] = ["", 0];
        const check = () => {
          const now = `${list.scrollTop} ${list.scrollHeight} ${list.clientHeight}`;
          stableFrames = now === before ? stableFrames + 1 : 0;
          before = now;
          if (stableFrames >= 5) done();
          else requestAnimationFrame(check);
        };
        check();
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
async function openStreaming({ model, host, open }: World, count = 60): Promise<Screen> {
  await longConversation(host, count);
  const screen = await open({ height: 600 });
  await screen.waitForText(`${count - 1} `);
  model.answers({ deltas: PIECES, hold: 60 });
  await screen.sendMessage("go on");
  await model.waitForHold();
  await screen.waitForText("piece 58 ");
  await waitUntilStable(screen.page);
  return screen;
}

story("the transcript follows an answer in the same row while a menu stays open", async (world) => {
  const screen = await openStreaming(world);
  await screen.mode.click();
  await expect.poll(() => distanceToEnd(screen.page)).toBeLessThanOrEqual(1);
  await screen.page
    .locator("[data-row]")
    .last()
    .evaluate((row) => row.setAttribute("data-mark", "mine"));
  world.model.release();
  await screen.waitForText("piece 119 ");
  await screen.waitUntilIdle();
  expect(await screen.page.locator('[data-mark="mine"]').last().textContent()).toContain("piece 119 ");
  await expect.poll(() => distanceToEnd(screen.page)).toBeLessThanOrEqual(1);
  await screen.modeEntry("plan").waitFor();
});

story("scrolling up by one pixel stops following until the reader is back at the end", async (world) => {
  const screen = await openStreaming(world);
  await wheel(screen, -1);
  await expect.poll(() => distanceToEnd(screen.page)).toBeGreaterThan(0.5);
  const before = await firstVisibleRow(screen.page);
  world.model.release();
  await screen.waitUntilIdle();
  await expect.poll(() => distanceToEnd(screen.page)).toBeGreaterThan(1_000);
  expect(Math.abs(((await rowOffset(screen.page, before.id)) ?? 1e9) - before.offset)).toBeLessThanOrEqual(0.5);
  await screen.page.getByRole("button", { name: "Jump to bottom" }).click();
  await expect.poll(() => distanceToEnd(screen.page)).toBeLessThanOrEqual(1);
  world.model.answers("And that is all.");
  await screen.sendMessage("so?");
  await screen.waitForText("And that is all.");
  await expect.poll(() => distanceToEnd(screen.page)).toBeLessThanOrEqual(1);
});

story(
  "a reader further up is not moved by deltas, the end of the answer, a resize or a theme change",
  async (world) => {
    const screen = await openStreaming(world);
    const { page } = screen;
    await wheel(screen, -700);
    await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(600);
    await waitUntilStable(page);
    const before = await firstVisibleRow(page);
    const drift = async () => Math.abs(((await rowOffset(page, before.id)) ?? 1e9) - before.offset);
    world.model.release();
    await screen.waitUntilIdle();
    await waitUntilStable(page);
    expect(await drift()).toBeLessThanOrEqual(0.5);
    await page.setViewportSize({ width: 1280, height: 500 });
    await waitUntilStable(page);
    expect(await drift()).toBeLessThanOrEqual(0.5);
    await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
    await waitUntilStable(page);
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

story("older messages load without a jump, up to the first", async ({ host, open }) => {
  await longConversation(host, 200);
  const screen = await open({ height: 600 });
  const { page } = screen;
  await screen.waitForText("199 ");
  for (let round = 0; round < 200; round++) {
    if ((await page.getByText("Loading earlier messages").count()) === 0 && (await scrollTop(page)) < 1) break;
    await wheel(screen, -1_700);
    await waitUntilStable(page);
    const before = await firstVisibleRow(page);
    await waitUntilStable(page);
    const after = await rowOffset(page, before.id);
    if (after !== null) expect(Math.abs(after - before.offset), `round ${round}`).toBeLessThanOrEqual(0.5);
  }
  await screen.userMessages.getByText(/^0 /).waitFor();
  expect(await page.locator("[data-row]").count()).toBeLessThan(80);
});

story("the focused row stays mounted however far away it is", async (world) => {
  const screen = await openStreaming(world);
  const { page } = screen;
  await page.getByRole("button", { name: /^Go to your message/ }).click();
  await screen.userMessages.getByText("go on").locator("xpath=ancestor::article").getByRole("button").first().focus();
  await wheel(screen, -20_000);
  await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(2_000);
  world.model.release();
  await screen.waitUntilIdle();
  expect(await page.evaluate(() => document.activeElement?.closest("[data-row]")?.textContent ?? "")).toContain(
    "go on",
  );
  await page.keyboard.press("End");
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
});

story("a conversation keeps its scroll position when the user returns", async ({ host, open }) => {
  await longConversation(host, 80, "one");
  await longConversation(host, 80, "other");
  const screen = await open({ height: 600 });
  const { page } = screen;
  const openTab = (title: string) =>
    page.getByRole("list", { name: "Open conversations" }).getByRole("button", { name: title, exact: true }).click();
  await openTab("one");
  await openTab("other");
  await screen.waitForText("79 ");
  await wheel(screen, -1_500);
  await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(1_000);
  await waitUntilStable(page);
  const before = await firstVisibleRow(page);
  await openTab("one");
  await expect.poll(() => rowOffset(page, before.id)).toBe(null);
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  await openTab("other");
  await expect
    .poll(async () => Math.abs(((await rowOffset(page, before.id)) ?? 1e9) - before.offset))
    .toBeLessThanOrEqual(0.5);
});

story("keys scroll the transcript, and the last user message stays above it", async (world) => {
  const screen = await openStreaming(world);
  const { page } = screen;
  const jumpButton = page.getByRole("button", { name: /^Go to your message: go on/ });
  await jumpButton.waitFor();
  await screen.transcript.focus();
  await page.keyboard.press("PageUp");
  await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(300);
  await page.keyboard.press("Home");
  await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(2_000);
  await page.keyboard.press("End");
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  await jumpButton.click();
  await jumpButton.waitFor({ state: "detached" });
  expect(await screen.userMessages.last().textContent()).toContain("go on");
});

story("End takes effect while the browser still animates a previous key", async (world) => {
  const { page, transcript } = await openStreaming(world);
  await transcript.focus();
  for (let press = 0; press < 5; press++) {
    await page.keyboard.press("PageUp");
    await page.keyboard.press("End");
    for (let time = 0; time < 6; time++) await waitUntilStable(page); // longer than the smooth scroll of the browser
    expect(await distanceToEnd(page)).toBeLessThanOrEqual(1);
  }
});

story("a menu stays open while the transcript follows an answer", async (world) => {
  const screen = await openStreaming(world);
  await screen.mode.click();
  await screen.modeEntry("plan").waitFor();
  world.model.release();
  await screen.waitForText("piece 119 ");
  await screen.waitUntilIdle();
  await screen.modeEntry("plan").waitFor();
  await expect.poll(() => distanceToEnd(screen.page)).toBeLessThanOrEqual(1);
});
