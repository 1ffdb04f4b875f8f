import { expect } from "vitest";
import { calls, run, write } from "./toolCalls";
import type { Screen } from "./screen";
import { story } from "./story";

/** Records the requests of a page that switch the mode or start a turn, in order. */
function recordRequests({ page }: Screen): readonly string[] {
  const recorded: string[] = [];
  page.on("request", (request) => {
    const name = /\/(mode|messages|continue|edit)$/.exec(new URL(request.url()).pathname)?.[1];
    if (name !== undefined && request.method() !== "GET") recorded.push(name);
  });
  return recorded;
}

/** Holds the response to the preview of a switch. The returned function releases it, or lets it fail. */
async function holdPreview({ page }: Screen): Promise<(isAnswered: boolean) => void> {
  let release: (isAnswered: boolean) => void = () => {};
  const released = new Promise<boolean>((resolve) => (release = resolve));
  await page.route("**/mode/preview*", async (route) => ((await released) ? route.continue() : route.abort()));
  return (isAnswered) => release(isAnswered);
}

/** Chooses a mode, and waits until the page requests the preview. */
async function chooseAndAwaitPreview(screen: Screen, mode: "supervised" | "agent"): Promise<void> {
  const previewRequest = screen.page.waitForRequest(/mode\/preview/);
  await screen.chooseMode(mode);
  await previewRequest;
}

async function sendHeldMessage(screen: Screen, text: string): Promise<void> {
  await screen.composer.fill(text);
  await screen.composer.press("Enter");
  await screen.page.locator(".is-sending").filter({ hasText: text }).waitFor();
}

story("a message sent during a mode switch runs in the new mode", async ({ model, open, file }) => {
  model.answers("Aye.", calls(write("log.txt")));
  const screen = await open();
  await screen.sendMessage("hello");
  await screen.waitUntilIdle();
  const requests = recordRequests(screen);
  const release = await holdPreview(screen);
  await chooseAndAwaitPreview(screen, "supervised");
  await sendHeldMessage(screen, "write");
  expect(requests).toEqual([]);
  release(true);
  await screen.decision("approve").waitFor();
  await screen.waitForMode("supervised");
  expect(requests).toEqual(["mode", "messages"]);
  await expect(file("log.txt")).rejects.toThrow();
});

story("a message is not sent if the mode switch fails", async ({ model, open, file, allow }) => {
  allow(/ERR_FAILED/);
  model.answers("Aye.", calls(write("log.txt")), "Written.");
  const screen = await open();
  await screen.sendMessage("hello");
  await screen.waitUntilIdle();
  const requests = recordRequests(screen);
  const release = await holdPreview(screen);
  await chooseAndAwaitPreview(screen, "supervised");
  await sendHeldMessage(screen, "write");
  release(false);
  const unsent = screen.page.getByRole("alert").filter({ hasText: "The mode wasn't switched, so nothing was sent." });
  await unsent.waitFor();
  await screen.waitForMode("agent");
  expect(requests).toEqual([]);
  expect(model.requests.length).toBe(1);
  await unsent.getByRole("button", { name: "Send again" }).click();
  await screen.waitForText("Written.");
  expect(await file("log.txt")).toBe("log.txt\n");
});

story(
  "a message that waits for a mode switch stays unsent when the switch is declined",
  async ({ model, open, put, file }) => {
    await put("old.txt", "old\n");
    model.answers(calls(run("rm old.txt")));
    const screen = await open();
    await screen.chooseMode("supervised");
    await screen.sendMessage("go");
    await screen.waitUntilReady(screen.decision("reject"));
    const requests = recordRequests(screen);
    const release = await holdPreview(screen);
    await chooseAndAwaitPreview(screen, "agent");
    await sendHeldMessage(screen, "and then");
    release(true);
    await screen.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await screen.page.getByRole("alert").filter({ hasText: "so nothing was sent" }).waitFor();
    await screen.waitForMode("supervised");
    expect(requests).toEqual([]);
    expect(await file("old.txt")).toBe("old\n");
  },
);

story("Continue and editing a message wait for a mode switch", async ({ model, open, file }) => {
  model.answers(
    { error: { status: 400, message: "the hold is full" } },
    calls(write("a.txt")),
    calls(write("b.txt")),
    "Done.",
  );
  const screen = await open();
  await screen.sendMessage("go");
  await screen.waitUntilIdle();
  const requests = recordRequests(screen);
  const release = await holdPreview(screen);
  await chooseAndAwaitPreview(screen, "supervised");
  await screen.button("continue").first().click();
  expect(requests).toEqual([]);
  release(true);
  await screen.decision("reject").click();
  await screen.waitUntilIdle();
  expect(requests).toEqual(["mode", "continue"]);
  const again = await holdPreview(screen);
  await screen.userMessages.hover();
  await screen.userMessages.getByRole("button", { name: "Edit and resend" }).click();
  await chooseAndAwaitPreview(screen, "agent");
  await screen.page.getByRole("textbox", { name: "Edit your message" }).press("Enter");
  expect(requests.length).toBe(2);
  again(true);
  await expect.poll(() => file("b.txt").catch(() => "")).toBe("b.txt\n");
  expect(requests).toEqual(["mode", "continue", "mode", "edit"]);
});
