import { expect } from "vitest";
import { asks, run, write } from "./toolCalls";
import type { Screen } from "./screen";
import { story } from "./story";

/** Records the requests of a page that switch the mode or start a turn, in order. */
function requestsOf({ page }: Screen): readonly string[] {
  const found: string[] = [];
  page.on("request", (request) => {
    const name = /\/(mode|messages|continue|edit)$/.exec(new URL(request.url()).pathname)?.[1];
    if (name !== undefined && request.method() !== "GET") found.push(name);
  });
  return found;
}

/** Holds the response to the preview of a switch. The returned function releases it, or lets it fail. */
async function holdPreview({ page }: Screen): Promise<(isAnswered: boolean) => void> {
  let go: (isAnswered: boolean) => void = () => {};
  const late = new Promise<boolean>((resolve) => (go = resolve));
  await page.route("**/mode/preview*", async (route) => ((await late) ? route.continue() : route.abort()));
  return (isAnswered) => go(isAnswered);
}

/** Chooses a mode, and waits until the page requests the preview. */
async function chooses(screen: Screen, mode: "supervised" | "agent"): Promise<void> {
  const asked = screen.page.waitForRequest(/mode\/preview/);
  await screen.choose(mode);
  await asked;
}

async function sends(screen: Screen, text: string): Promise<void> {
  await screen.box.fill(text);
  await screen.box.press("Enter");
  await screen.page.locator(".is-sending").filter({ hasText: text }).waitFor();
}

story("a message that is sent while a mode is being chosen runs in that mode", async ({ model, open, file }) => {
  model.answers("Aye.", asks(write("log.txt")));
  const screen = await open();
  await screen.say("hello");
  await screen.rests();
  const requests = requestsOf(screen);
  const release = await holdPreview(screen);
  await chooses(screen, "supervised");
  await sends(screen, "write");
  expect(requests).toEqual([]);
  release(true);
  await screen.decision("approve").waitFor();
  await screen.isMode("supervised");
  expect(requests).toEqual(["mode", "messages"]);
  await expect(file("log.txt")).rejects.toThrow();
});

story(
  "a message is not sent where the mode that was chosen did not come about",
  async ({ model, open, file, allow }) => {
    allow(/ERR_FAILED/);
    model.answers("Aye.", asks(write("log.txt")), "Written.");
    const screen = await open();
    await screen.say("hello");
    await screen.rests();
    const requests = requestsOf(screen);
    const release = await holdPreview(screen);
    await chooses(screen, "supervised");
    await sends(screen, "write");
    release(false);
    const unsent = screen.page.getByRole("alert").filter({ hasText: "The mode wasn't switched, so nothing was sent." });
    await unsent.waitFor();
    await screen.isMode("agent");
    expect(requests).toEqual([]);
    expect(model.requests.length).toBe(1);
    await unsent.getByRole("button", { name: "Send again" }).click();
    await screen.reads("Written.");
    expect(await file("log.txt")).toBe("log.txt\n");
  },
);

story("a message that waits for a switch stays when the switch is declined", async ({ model, open, put, file }) => {
  await put("old.txt", "old\n");
  model.answers(asks(run("rm old.txt")));
  const screen = await open();
  await screen.choose("supervised");
  await screen.say("go");
  await screen.isReady(screen.decision("reject"));
  const requests = requestsOf(screen);
  const release = await holdPreview(screen);
  await chooses(screen, "agent");
  await sends(screen, "and then");
  release(true);
  await screen.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await screen.page.getByRole("alert").filter({ hasText: "so nothing was sent" }).waitFor();
  await screen.isMode("supervised");
  expect(requests).toEqual([]);
  expect(await file("old.txt")).toBe("old\n");
});

story("Continue, and a message said otherwise, wait for the mode that was chosen", async ({ model, open, file }) => {
  model.answers(
    { error: { status: 400, message: "the hold is full" } },
    asks(write("a.txt")),
    asks(write("b.txt")),
    "Done.",
  );
  const screen = await open();
  await screen.say("go");
  await screen.rests();
  const requests = requestsOf(screen);
  const release = await holdPreview(screen);
  await chooses(screen, "supervised");
  await screen.button("continue").first().click();
  expect(requests).toEqual([]);
  release(true);
  await screen.decision("reject").click();
  await screen.rests();
  expect(requests).toEqual(["mode", "continue"]);
  const again = await holdPreview(screen);
  await screen.userMessages.hover();
  await screen.userMessages.getByRole("button", { name: "Edit and resend" }).click();
  await chooses(screen, "agent");
  await screen.page.getByRole("textbox", { name: "Edit your message" }).press("Enter");
  expect(requests.length).toBe(2);
  again(true);
  await expect.poll(() => file("b.txt").catch(() => "")).toBe("b.txt\n");
  expect(requests).toEqual(["mode", "continue", "mode", "edit"]);
});
