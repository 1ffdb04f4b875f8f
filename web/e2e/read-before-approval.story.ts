import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { calls, run, write } from "./toolCalls";
import { story } from "./story";

const LINES = Array.from({ length: 60 }, (_, index) => `echo line ${index}`).join("\n");

const UNREAD = /Read the unread action in full/;

story("a long command can be approved only after every line was on the screen", async ({ model, open, file }) => {
  model.answers(calls(run(`${LINES}\ntouch ran.txt`)), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  const approve = screen.decision("approve");
  await approve.waitFor();
  await screen.dock.getByText(UNREAD).waitFor();
  await screen.waitUntilReady(screen.decision("reject"));
  expect(await approve.getAttribute("title")).toMatch(UNREAD);
  await approve.click({ force: true });
  await screen.dock.locator(".card").focus();
  await screen.page.keyboard.press("Enter");
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.waitUntilFocused(screen.dock.locator(".lines")); // Enter has led to the unread part
  await screen.readCalls();
  await screen.waitUntilReady(approve);
  await screen.dock.getByText(UNREAD).waitFor({ state: "detached" });
  await screen.page.keyboard.press("Enter");
  await screen.waitForText("Done.");
  expect(await file("ran.txt")).toBe("");
});

story("a jump to the end leaves the skipped lines unread, and the hint leads there", async ({ model, open, file }) => {
  const lines = Array.from({ length: 300 }, (_, index) => `echo line ${index}`).join("\n");
  model.answers(calls(run(`${lines}\ntouch ran.txt`)));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  const box = screen.dock.locator(".lines");
  await box.waitFor();
  const unread = async () => {
    const hint = await screen.dock.getByText(/lines are unread/).textContent();
    return Number(/(\d+) lines are unread/.exec(hint ?? "")?.[1]);
  };
  const countVisibleRows = () =>
    box.evaluate((element) => {
      const container = element.closest(".card-body")?.getBoundingClientRect() ?? document.body.getBoundingClientRect();
      const bounds = element.getBoundingClientRect();
      const [top, bottom] = [Math.max(bounds.top, container.top), Math.min(bounds.bottom, container.bottom)];
      const rows = [...element.querySelectorAll("[data-index]")].map((row) => row.getBoundingClientRect());
      return rows.filter((row) => row.top >= top - 1 && row.bottom <= bottom + 1).length;
    });
  const visibleAtFirst = await countVisibleRows();
  await expect.poll(unread).toBeLessThanOrEqual(301 - visibleAtFirst);
  const before = await unread(); // the card was slightly higher before the hint appeared
  expect(before).toBeGreaterThan(301 - visibleAtFirst - 6);
  const text = screen.dock.locator(".card-body");
  await text.evaluate((element) => (element.scrollTop = element.scrollHeight));
  await expect.poll(unread).toBe(before - (await countVisibleRows()));
  await screen.waitUntilReady(screen.decision("reject"));
  await screen.dock.locator(".card").focus();
  await screen.page.keyboard.press("Enter");
  const place = () => text.evaluate((element) => element.scrollTop / 18);
  await expect.poll(async () => Math.abs((await place()) - (301 - before)) <= 3).toBe(true);
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.decision("reject").click();
  await screen.waitUntilIdle();
});

story("blanks cannot push the end of a command out of sight", async ({ model, open }) => {
  model.answers(calls(run(`echo ok${"\u2003".repeat(2_100)}; rm -rf notes`)));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.dock.getByText("⟨U+2003 ×1993⟩").waitFor();
  const shown = await screen.dock.locator(".text-value").first().innerText();
  expect(shown).toContain("; rm -rf notes");
  await screen.dock.getByText(/unusual blank characters/).waitFor();
});

story("a change can be approved only after all of it was on the screen", async ({ model, open, file }) => {
  model.answers(calls(write("long.txt", `${LINES}\nlast line\n`)), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  const approve = screen.decision("approve");
  await approve.waitFor();
  await screen.dock.getByText(UNREAD).waitFor();
  await screen.readCalls();
  await screen.waitUntilReady(approve);
  await approve.click();
  await screen.waitForText("Done.");
  expect(await file("long.txt")).toContain("last line");
});

story("the longest possible command stays usable", async ({ model, open }) => {
  model.answers(calls(run(`echo ${"x".repeat(99_900)}; rm -rf tail`)));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  const approve = screen.decision("approve");
  await approve.waitFor();
  await screen.dock.getByText(UNREAD).waitFor();
  await screen.page.locator(".card-body").evaluate((box) => (box.scrollTop = box.scrollHeight));
  await screen.dock.getByText("rm -rf tail").first().waitFor();
  await screen.dock.getByText("1 line is unread.").waitFor(); // the command is one line, and most of it was skipped
  expect(await approve.getAttribute("aria-disabled")).toBe("true");
});

story(
  "several calls can be approved together only after all of them were on the screen",
  async ({ model, open, file }) => {
    model.answers(calls(write("a.txt", `${LINES}\n`), run(`${LINES}\necho b > b.txt`)), "Done.");
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    const approve = screen.decision("approveAll", { n: 2 });
    await approve.waitFor();
    await screen.dock.getByText(/Read the (2 )?unread actions? in full/).waitFor();
    await screen.dock.locator(".card").press("Shift+Enter");
    await expect(file("a.txt")).rejects.toThrow();
    await screen.readCalls();
    await screen.waitUntilReady(approve);
    await approve.click();
    await screen.waitForText("Done.");
    expect(await file("b.txt")).toBe("b\n");
  },
);

story("an edited call must be read again, with hidden characters written out", async ({ model, open, file }) => {
  model.answers(calls(write("log.txt", "theirs\n")), "Done.");
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("edit").click();
  const field = screen.page.getByRole("textbox", { name: "Arguments (JSON)" });
  const shown = screen.dock.getByRole("region", { name: /^What will run/ });
  await field.fill(`{"path": "log\u200b.txt"`); // also while it is invalid JSON
  await shown.getByText("⟨U+200B⟩").waitFor();
  await field.fill(JSON.stringify({ path: "log.txt", content: `${LINES}\nend\u202e\n` }));
  await screen.dock.getByText("The diff and warnings below are for the edited action.").waitFor();
  expect(await shown.locator(".diff").count()).toBe(1);
  const send = screen.decision("editSend");
  await expect.poll(() => send.getAttribute("title")).toBe("Read everything that will run first");
  await send.click({ force: true });
  await expect(file("log.txt")).rejects.toThrow();
  await screen.readCalls();
  await shown.getByText("⟨U+202E⟩").waitFor();
  await screen.waitUntilReady(send);
  await send.click();
  await screen.waitForText("Done.");
  expect(await file("log.txt")).toContain("end\u202e");
});

story("the path of a change shows trailing blanks and hidden characters", async ({ model, open }) => {
  model.answers(calls(write("notes\u200b.txt ", "x\n")));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.decision("reject").waitFor();
  expect(await screen.dock.locator(".diff-path").innerText()).toBe("notes⟨U+200B⟩.txt⟨U+0020⟩");
});

story("a folder's settings can be trusted only after every line was on the screen", async ({ model, open, host }) => {
  mkdirSync(join(host.work, ".pilothouse"));
  const text = `mode = "plan"\n${"\n".repeat(60)}# the end\u200b\n`;
  writeFileSync(join(host.work, ".pilothouse", "config.toml"), text);
  model.answers("Aye.");
  const screen = await open();
  await screen.sendMessage("hello");
  await screen.waitUntilIdle();
  await screen.page.getByRole("button", { name: "Review…" }).click();
  const dialog = screen.page.getByRole("dialog");
  const trust = dialog.getByRole("button", { name: "Trust" });
  await dialog.getByText(/lines are unread/).waitFor();
  expect(await trust.getAttribute("title")).toBe("Read every file in full before you trust the settings.");
  expect(await dialog.locator(".line-number").nth(61).textContent()).toBe("62");
  await screen.readCalls(dialog);
  await dialog.getByText("⟨U+200B⟩").waitFor();
  await screen.waitUntilReady(trust);
});

/** The lines, and the last line of the command or the header of the diff. */
const ROW_COUNT = 501;
const MANY = Array.from({ length: ROW_COUNT - 1 }, (_, index) => `echo line ${index}`);

for (const [kind, call] of Object.entries({
  command: run([...MANY, "touch ran.txt"].join("\n")),
  change: write("ran.txt", [...MANY, ""].join("\n")),
})) {
  story(`a ${kind} of 500 lines is read in at most twelve pages of the space bar`, async ({ model, open, file }) => {
    model.answers(calls(call), "Done.");
    const screen = await open({ width: 1280, height: 900 });
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.waitUntilReady(screen.decision("reject"));
    const approve = screen.decision("approve");
    const hint = screen.dock.locator(".unread-hint");
    await screen.decision("enlarge").first().click();
    /** Waits until all rows down to the last visible one are read. Returns whether these were all rows. */
    const waitForPage = async () => {
      await expect
        .poll(async () => {
          if ((await hint.count()) === 0) return 0;
          const unread = Number(/(\d+) lines? (is|are) unread/.exec((await hint.textContent()) ?? "")?.[1] ?? 0);
          const last = await screen.dock.locator(".lines").evaluate((box) => {
            const end = box.closest(".card-body")?.getBoundingClientRect().bottom ?? 0;
            const rows = [...box.querySelectorAll<HTMLElement>("[data-index]")];
            return Number(rows.findLast((row) => row.getBoundingClientRect().bottom <= end + 1)?.dataset.index);
          });
          return unread - (ROW_COUNT - 1 - last);
        })
        .toBe(0);
      return (await approve.getAttribute("aria-disabled")) === null;
    };
    let presses = 0;
    while (!(await waitForPage())) await screen.page.keyboard.press(presses++ % 2 === 0 ? "Space" : "PageDown");
    expect(presses).toBeLessThanOrEqual(12);
    await screen.page.keyboard.press("Enter");
    await screen.waitForText("Done.");
    await file("ran.txt");
  });
}

story("a large card scrolls from anywhere on it, and Esc or the composer shrinks it", async ({ model, open }) => {
  model.answers(calls(run(MANY.join("\n"))));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("reject"));
  const { page } = screen;
  const card = screen.dock.locator(".card");
  const text = card.locator(".card-body");
  const top = () => text.evaluate((element) => element.scrollTop);
  const height = () => card.evaluate((element) => element.clientHeight / window.innerHeight);
  await card.focus();
  await page.keyboard.press("PageDown");
  const small = await top();
  expect(small).toBeGreaterThan(100);
  await screen.decision("enlarge").first().click();
  await screen.waitUntilFocused(text);
  expect(await height()).toBeGreaterThan(0.85);
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true);
  await card.focus();
  await page.keyboard.press("End");
  const end = await top();
  expect(end).toBeGreaterThan(8_000);
  await page.keyboard.press("Shift+Space");
  expect(await top()).toBeLessThan(end - small);
  await text.hover();
  await page.mouse.wheel(0, -2_000);
  await expect.poll(top).toBeLessThan(end - 2_000);
  await page.keyboard.press("Escape");
  await screen.waitUntilFocused(card);
  expect(await height()).toBeLessThan(0.6);
  await screen.decision("enlarge").first().click();
  await page.keyboard.press("Control+Shift+L");
  await screen.waitUntilFocused(screen.composer);
  expect(await height()).toBeLessThan(0.6);
  await screen.decision("reject").click();
  await screen.waitUntilIdle();
});

story("pages that scroll past quickly are not read", async ({ model, open }) => {
  model.answers(calls(run(MANY.join("\n"))));
  const screen = await open();
  await screen.chooseMode("supervised");
  await screen.sendMessage("go");
  await screen.waitUntilReady(screen.decision("reject"));
  await screen.decision("enlarge").first().click();
  const text = screen.dock.locator(".card-body");
  await screen.waitUntilFocused(text);
  const unread = async () => {
    const hint = (await screen.dock.locator(".unread-hint").textContent()) ?? "";
    return Number(/(\d+) lines are unread/.exec(hint)?.[1]);
  };
  await expect.poll(async () => (await unread()) < 470).toBe(true); // the first page
  await text.evaluate((element) => {
    for (let press = 0; press < 40; press++)
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true, cancelable: true }));
  });
  await screen.dock.getByText("echo line 499", { exact: true }).waitFor();
  await expect.poll(async () => (await unread()) < 440).toBe(true); // the first page and the last one
  expect(await unread()).toBeGreaterThan(400);
  expect(await screen.decision("approve").getAttribute("aria-disabled")).toBe("true");
});

story(
  "a large card leaves the state and the stop button visible, and a shortcut enlarges it",
  async ({ model, open }) => {
    model.answers(calls(run(MANY.join("\n"))));
    const screen = await open();
    const { keyboard } = screen.page;
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.waitUntilReady(screen.decision("reject"));
    await keyboard.press("Control+/");
    const listed = screen.page.getByRole("dialog").getByText("Enlarge or shrink approval card");
    await listed.waitFor();
    await keyboard.press("Escape");
    await listed.waitFor({ state: "detached" });
    const card = screen.dock.locator(".card.is-large");
    await keyboard.press("Control+Shift+.");
    await card.waitFor();
    await keyboard.press("Control+Shift+.");
    await card.waitFor({ state: "detached" });
    await keyboard.press("Control+Shift+.");
    await card.waitFor();
    const line = await screen.stateLine.boundingBox();
    expect(line?.height).toBeGreaterThanOrEqual(30);
    expect((line?.y ?? Infinity) + (line?.height ?? 0)).toBeLessThanOrEqual(800);
    const stop = screen.stateLine.getByRole("button", { name: "Stop", exact: true });
    const onTop = await stop.evaluate((button) => {
      const { left, top, width, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect(onTop).toBe(true);
    await stop.click();
    await screen.waitUntilIdle();
    await stop.waitFor({ state: "detached" });
  },
);
