import { expect } from "vitest";
import { asks, run, write } from "./calls";
import { story } from "./story";

const LINES = Array.from({ length: 60 }, (_, index) => `echo line ${index}`).join("\n");

story("a long command is approved only after its end was on the screen", async ({ model, open, file }) => {
  model.answers(asks(run(`${LINES}\ntouch ran.txt`)), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  const approve = screen.decision("approve");
  await approve.waitFor();
  const reason = screen.dock.getByText("Scroll to the end of the call before you approve");
  await reason.waitFor();
  await screen.isReady(screen.decision("reject"));
  expect(await approve.getAttribute("title")).toContain("Scroll to the end");
  await approve.click({ force: true });
  await screen.dock.locator(".card").focus();
  await screen.page.keyboard.press("Enter");
  await expect(file("ran.txt")).rejects.toThrow();
  await screen.isFocused(screen.dock.locator(".lines"));
  await screen.page.keyboard.press("End"); // Enter has led the focus to the box that is not read yet
  await expect.poll(() => screen.page.locator(".card .lines .end-of-text:not([data-reached])").count()).toBe(0);
  await screen.page.keyboard.press("Enter"); // and now to the card around it
  await screen.page.keyboard.press("End");
  await screen.isReady(approve);
  await reason.waitFor({ state: "detached" });
  await screen.page.keyboard.press("Enter");
  await screen.reads("Done.");
  expect(await file("ran.txt")).toBe("");
});

story("blanks cannot push the end of a command out of sight", async ({ model, open }) => {
  model.answers(asks(run(`echo ok${"\u2003".repeat(2_100)}; rm -rf notes`)));
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.dock.getByText("⟨U+2003 ×1993⟩").waitFor();
  const shown = await screen.dock.locator(".text-value").first().innerText();
  expect(shown).toContain("; rm -rf notes");
  await screen.dock.getByText(/blanks that are no spaces/).waitFor();
});

story("a change, too, is approved only after its end was on the screen", async ({ model, open, file }) => {
  model.answers(asks(write("long.txt", `${LINES}\nlast line\n`)), "Done.");
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  const approve = screen.decision("approve");
  await approve.waitFor();
  await screen.dock.getByText("Scroll to the end of the call before you approve").waitFor();
  await screen.dock.getByText("last line").scrollIntoViewIfNeeded();
  await screen.readsCalls();
  await screen.isReady(approve);
  await approve.click();
  await screen.reads("Done.");
  expect(await file("long.txt")).toContain("last line");
});

story("the longest command that can be asked for stays usable", async ({ model, open }) => {
  model.answers(asks(run(`echo ${"x".repeat(99_900)}; rm -rf tail`)));
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  const approve = screen.decision("approve");
  await approve.waitFor();
  await screen.dock.getByText("Scroll to the end of the call before you approve").waitFor();
  const lag = await screen.page.evaluate(async () => {
    const box = document.querySelector(".card .lines");
    const begun = performance.now();
    if (box !== null) box.scrollTop = box.scrollHeight;
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    return performance.now() - begun;
  });
  expect(lag).toBeLessThan(3_000);
  await screen.readsCalls();
  await screen.dock.getByText("rm -rf tail").first().waitFor();
  await screen.isReady(approve);
});

story(
  "several calls are approved together only after all of them were on the screen",
  async ({ model, open, file }) => {
    model.answers(asks(write("a.txt", `${LINES}\n`), run(`${LINES}\necho b > b.txt`)), "Done.");
    const screen = await open();
    await screen.choose("supervised");
    await screen.say("go");
    const approve = screen.decision("approveAll", { n: 2 });
    await approve.waitFor();
    await screen.dock.getByText("Scroll to the end of every call before you approve").waitFor();
    await screen.dock.locator(".card").press("Shift+Enter");
    await expect(file("a.txt")).rejects.toThrow();
    await screen.readsCalls();
    await screen.isReady(approve);
    await approve.click();
    await screen.reads("Done.");
    expect(await file("b.txt")).toBe("b\n");
  },
);
