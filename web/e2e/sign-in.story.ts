import { expect } from "vitest";
import { isAccessible } from "./pageChecks";
import { story } from "./story";

story("a sign-in link needs confirmation and leaves no code in the address", async (world) => {
  const page = await world.visit({ bypassesPolicy: true });
  const link = world.host.link();
  await page.goto(link);
  await isAccessible(page, "the confirmation");
  expect(await page.context().cookies()).toEqual([]);
  await page.getByRole("button", { name: "Sign in as the user of this computer" }).click();
  await page.locator(".app-foot").waitFor();
  expect(page.url()).not.toContain("code");
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  world.allow(/401/);
  const other = await world.visit();
  await other.goto(link);
  await other.getByText("was already used").waitFor();
});

story("an access token signs in, and a wrong one explains what to do", async (world) => {
  world.allow(/401/);
  const page = await world.visit({ language: "zh", bypassesPolicy: true });
  await page.goto(world.host.base);
  await isAccessible(page, "the sign-in form");
  await page.getByLabel("访问令牌").fill("wrong-wrong-wrong-wrong");
  await page.getByRole("button", { name: "登录" }).click();
  await page.getByText("登录失败").waitFor();
  await page.getByLabel("访问令牌").fill(world.host.token);
  await page.getByRole("button", { name: "登录" }).click();
  await page.locator(".app-foot").waitFor();
});
