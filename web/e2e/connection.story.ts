import { expect } from "vitest";
import { WITHOUT_SERVER, story } from "./story";

story("the client reports a lost connection, keeps unsent text and recovers", async ({ model, host, open, allow }) => {
  allow(WITHOUT_SERVER);
  model.answers("Aye.", "Again.");
  const screen = await open();
  await screen.sendMessage("hello");
  await screen.waitUntilIdle();
  await screen.composer.fill("and then");
  await host.end("SIGTERM");
  const banner = screen.page.locator(".banner").filter({ hasText: "Connection lost" });
  await banner.waitFor();
  const send = screen.button("send");
  await expect.poll(() => send.getAttribute("aria-disabled")).toBe("true");
  expect(await send.getAttribute("title")).toContain("You're offline");
  await screen.composer.press("Enter");
  expect(await screen.composer.inputValue()).toBe("and then");
  expect(await screen.userMessages.count()).toBe(1);
  await screen.button("new", screen.page.getByRole("navigation")).click();
  await screen.composer.evaluate((box) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", "long ".repeat(5_000));
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  await expect.poll(async () => (await screen.composer.inputValue()).length).toBe(25_000);
  await screen.page.goBack();
  await host.start();
  await banner.waitFor({ state: "detached" });
  await screen.composer.press("Enter");
  await screen.answers.getByText("Again.").waitFor();
  expect(await screen.userMessages.count()).toBe(2);
});
