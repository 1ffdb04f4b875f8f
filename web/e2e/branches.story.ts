import { expect } from "vitest";
import { longConversation } from "./longConversation";
import type { Screen } from "./screen";
import { story } from "./story";

const versions = (screen: Screen, n: number, total: number) =>
  screen.transcript.getByRole("group", {
    name:
      screen.language === "zh" ? `此消息的第 ${n} 个版本，共 ${total} 个` : `Version ${n} of ${total} of this message`,
  });

async function resend(screen: Screen, from: string | RegExp, to: string): Promise<void> {
  const row = screen.userMessages.filter({ hasText: from });
  await row.getByRole("button", { name: /^Edit and resend|^编辑并重新发送/ }).click();
  const editor = screen.page.getByRole("textbox", { name: /^Edit your message|^编辑你的消息/ });
  await editor.fill(to);
  await editor.press("Enter");
}

story("an edited message can be switched to its previous version and back", async ({ model, open }) => {
  model.answers("Red.", "Green.", "Blue.");
  const screen = await open();
  const { keyboard } = screen.page;
  await screen.sendMessage("name a colour");
  await screen.waitForText("Red.");
  await screen.sendMessage("another one");
  await screen.waitForText("Green.");
  await screen.waitUntilIdle();
  expect(await screen.page.locator(".versions").count()).toBe(0);
  await resend(screen, "name a colour", "name a cold colour");
  await screen.waitForText("Blue.");
  await screen.waitUntilIdle();
  await versions(screen, 2, 2).getByText("2 / 2").waitFor();
  expect(await screen.transcript.getByText("Green.").count()).toBe(0);

  await versions(screen, 2, 2).getByRole("button", { name: "Previous version" }).click();
  await screen.waitForText("Green.");
  await screen.waitForText("another one");
  expect(await screen.transcript.getByText("Blue.").count()).toBe(0);
  const previous = versions(screen, 1, 2).getByRole("button", { name: "Previous version" });
  expect(await previous.getAttribute("aria-disabled")).toBe("true");
  expect(await previous.getAttribute("title")).toBe("This is the first version");

  const next = versions(screen, 1, 2).getByRole("button", { name: "Next version" });
  await screen.waitUntilFocused(previous);
  await keyboard.press("Tab");
  await screen.waitUntilFocused(next);
  await keyboard.press("Enter");
  await screen.waitForText("Blue.");
  await screen.waitUntilFocused(versions(screen, 2, 2).getByRole("button", { name: "Next version" }));
});

story("versions cannot be switched while a turn runs, and the buttons say why", async ({ model, open }) => {
  model.answers("红色", "蓝色", { text: "绿色", hold: 1 });
  const screen = await open({ language: "zh" });
  await screen.sendMessage("说一种颜色");
  await screen.waitForText("红色");
  await resend(screen, "说一种颜色", "说一种冷色");
  await screen.waitForText("蓝色");
  const previous = versions(screen, 2, 2).getByRole("button", { name: "上一个版本" });
  await screen.waitUntilReady(previous);
  await screen.sendMessage("再说一种");
  await model.waitForHold();
  await expect.poll(() => previous.getAttribute("title")).toBe("本轮结束后才能切换版本");
  expect(await previous.getAttribute("aria-disabled")).toBe("true");
  model.release();
  await screen.waitUntilReady(previous);
});

story("switching a version far up in a long conversation scrolls to it", async ({ model, open, host }) => {
  model.answers("Said anew.");
  await longConversation(host, 240);
  const screen = await open();
  await screen.waitForText(/^239 /);
  await screen.transcript.focus();
  await expect
    .poll(
      async () => {
        await screen.page.keyboard.press("Control+Home");
        return screen.transcript.getByText(/^1 words/).isVisible();
      },
      { timeout: 60_000 },
    )
    .toBe(true);
  await resend(screen, /^2 words/, "said otherwise");
  await screen.waitForText("Said anew.");
  await screen.waitUntilIdle();
  await versions(screen, 2, 2).getByRole("button", { name: "Previous version" }).click();
  const old = versions(screen, 1, 2);
  await old.waitFor();
  await expect.poll(() => old.isVisible()).toBe(true);
  await expect.poll(async () => ((await old.boundingBox())?.y ?? -1) >= 0).toBe(true);
  await old.getByRole("button", { name: "Next version" }).click();
  await screen.waitForText("Said anew.");
});
