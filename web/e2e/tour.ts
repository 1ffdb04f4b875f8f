/**
 * Visits every main screen, in either language and at any width, and calls `onScreen` at each. Each screen is stable then:
 * nothing is loading, and the grace period after a change is over.
 */
import { expect } from "vitest";
import type { Answer } from "./model";
import { calls, run, write } from "./toolCalls";
import type { Name, Screen } from "./screen";
import type { World } from "./story";

const MAX_PHONE_WIDTH_PX = 640;

const rich = (title: string, text: string): string =>
  [
    `# ${title}\n\n**${text}** [${text}](https://example.org/) \`${text}\`\n`,
    `\`\`\`python\nprint('${text}')\n\`\`\`\n`,
    `| ${title} | ${text} |\n|---|---|\n| ${text} | 12 |\n`,
    `1. ${title}\n2. ${text}\n\n> ${text}\n`,
  ].join("\n");

const TEXTS = {
  en: {
    prompt: "Show me everything",
    answer: rich("Course", "north"),
    question: "Which port?",
    options: ["north", "south"],
    error: "the hold is full",
    file: "log.txt",
    before: "north\n",
    after: "south\n",
  },
  zh: {
    prompt: "看一看",
    answer: rich("航向", "北方"),
    question: "去哪个港口？",
    options: ["北方", "南方"],
    error: "船舱已满",
    file: "日志.txt",
    before: "北方\n",
    after: "南方\n",
  },
};

export async function tour(
  { model, put }: Pick<World, "model" | "put">,
  screen: Screen,
  onScreen: (screenName: string) => Promise<void>,
): Promise<void> {
  const { page } = screen;
  const texts = TEXTS[screen.language];
  const answers = (...all: Answer[]) => model.answers(...all);
  await onScreen("welcome");
  await screen.mode.click();
  await screen.modeEntry("ask").waitFor();
  await onScreen("modes");
  await page.keyboard.press("Escape");

  answers(
    { text: texts.answer, ...calls({ tool: "list_directory", arguments: { path: "." } }) },
    { text: texts.answer },
  );
  await screen.sendMessage(texts.prompt);
  await model.waitForRequest(2);
  await screen.waitUntilIdle();
  await page.locator(".md-code code span").last().waitFor(); // highlighting follows later
  await onScreen("conversation");

  await put(texts.file, texts.before);
  answers(calls(write(texts.file, texts.after)));
  await screen.chooseMode("supervised");
  await screen.sendMessage(texts.prompt);
  await screen.waitUntilReady(screen.decision("reject"));
  await onScreen("waiting");
  for (const panel of ["tell", "always", "edit"] as const) {
    await screen.decision(panel).click();
    await screen.decision("back").waitFor();
    await onScreen(panel);
    await screen.decision("back").click();
  }
  await screen.decision("reject").click();
  await screen.waitUntilIdle();

  answers(calls(write(texts.file, texts.after), run(`rm ${texts.file}`)));
  await screen.sendMessage(texts.prompt);
  await screen.waitUntilReady(screen.decision("rejectAll", { n: 2 }));
  await onScreen("several");
  await screen.chooseMode("agent");
  await page.getByRole("dialog").waitFor();
  await onScreen("switch");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await screen.decision("rejectAll", { n: 2 }).click();
  await screen.waitUntilIdle();

  const { question, options } = texts;
  answers(calls({ tool: "ask_user", arguments: { questions: [{ question, options }, { question }] } }), {
    error: { status: 400, message: texts.error },
  });
  await screen.sendMessage(texts.prompt);
  const form = page.getByRole("form", { name: screen.name("questions") });
  await form.getByRole("radio").first().check();
  await onScreen("question");
  await screen.button("answer", form).click();
  await page
    .getByRole("article", { name: screen.name("error") })
    .last()
    .waitFor();
  await screen.waitUntilIdle();
  await onScreen("error");
  for (const name of ["preferences", "rules", "shortcuts"] as const) await dialog(screen, name, onScreen);
}

async function dialog(screen: Screen, name: Name, onScreen: (screenName: string) => Promise<void>): Promise<void> {
  const { page } = screen;
  if ((page.viewportSize()?.width ?? 0) <= MAX_PHONE_WIDTH_PX) await screen.button("show").click();
  await screen.button(name, page.getByRole("navigation")).click();
  await page.getByRole("dialog").waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0); // the dialog has loaded
  await onScreen(name);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}
