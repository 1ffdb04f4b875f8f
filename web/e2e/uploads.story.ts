import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { PageContextSummary } from "../src/api/schema";
import { calls, read } from "./toolCalls";
import { type World, story } from "./story";

const file = (name: string, text: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });

/** The names of the stored uploads of the only conversation. */
async function uploaded({ request, host }: World): Promise<readonly string[]> {
  const { items } = await request<PageContextSummary>("GET", "/api/contexts");
  const folder = join(host.work, "..", "data", "contexts", items[0]?.context_id ?? "", "artifacts", "uploads");
  return (await readdir(folder)).sort();
}

story("an upload stays out of the project until copied, and a removed upload is deleted", async (world) => {
  const { model, host, open } = world;
  model.answers(calls(read("uploads/notes.txt")), "Plums it is.");
  const screen = await open();
  const chips = screen.page.getByRole("list", { name: "Attached files" });
  const choose = screen.page.locator("form.composer input[type=file]");
  await choose.setInputFiles([file("notes.txt", "plums\n"), file("secret.txt", "figs\n")]);
  const remove = chips.getByRole("button", { name: "Remove secret.txt" });
  await remove.waitFor();
  expect(await uploaded(world)).toEqual(["notes.txt", "secret.txt"]);
  await remove.click();
  await expect.poll(() => uploaded(world)).toEqual(["notes.txt"]);
  expect(await readdir(host.work)).toEqual([]);

  await screen.sendMessage("what do I like?");
  await screen.waitForText("Plums it is.");
  await screen.waitUntilIdle();
  expect(JSON.stringify((await model.waitForRequest(2)).messages)).toContain("plums");
  expect(await readdir(host.work)).toEqual([]);

  await screen.userMessages.getByText("uploads/notes.txt").waitFor();
  await screen.userMessages.getByRole("button", { name: "Copy notes.txt to the project" }).click();
  await screen.page
    .getByRole("region", { name: "Notifications" })
    .getByText("Copied notes.txt to notes.txt in the project.")
    .waitFor();
  expect(await readdir(host.work)).toEqual(["notes.txt"]);
  expect(await world.file("notes.txt")).toBe("plums\n");
});

story("the Chinese client names the copy of an upload", async (world) => {
  const { model, open, put } = world;
  model.answers("好的。");
  await put("笔记.txt", "别的内容\n");
  const screen = await open({ language: "zh" });
  await screen.page.locator("form.composer input[type=file]").setInputFiles([file("笔记.txt", "李子\n")]);
  await screen.page.getByRole("button", { name: "移除 笔记.txt" }).waitFor();
  await screen.sendMessage("看看这个文件");
  await screen.waitForText("好的。");
  await screen.waitUntilIdle();
  await screen.userMessages.getByRole("button", { name: "将 笔记.txt 复制到项目" }).click();
  await screen.page
    .getByRole("region", { name: "通知" })
    .getByText("已将 笔记.txt 复制到项目中的 笔记-2.txt。")
    .waitFor();
  expect(await world.file("笔记.txt")).toBe("别的内容\n");
  expect(await world.file("笔记-2.txt")).toBe("李子\n");
});
