/**
 * Visits every main screen, in either language and at any width, and calls `look` at each. Each screen is stable then:
 * nothing is loading, and the grace period after a change is over.
 */
import { expect } from "vitest";
import type { Answer } from "./model";
import { asks, run, write } from "./toolCalls";
import type { Name, Screen } from "./screen";
import type { World } from "./story";

const PHONE = 640;

const rich = (title: string, text: string): string =>
  [
    `# ${title}\n\n**${text}** [${text}](https://example.org/) \`${text}\`\n`,
    `\`\`\`python\nprint('${text}')\n\`\`\`\n`,
    `| ${title} | ${text} |\n|---|---|\n| ${text} | 12 |\n`,
    `1. ${title}\n2. ${text}\n\n> ${text}\n`,
  ].join("\n");

const TEXTS = {
  en: {
    said: "Show me everything",
    answer: rich("Course", "north"),
    question: "Which port?",
    options: ["north", "south"],
    error: "the hold is full",
    file: "log.txt",
    before: "north\n",
    after: "south\n",
  },
  zh: {
    said: "看一看",
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
  look: (what: string) => Promise<void>,
): Promise<void> {
  const { page } = screen;
  const texts = TEXTS[screen.language];
  const answers = (...all: Answer[]) => model.answers(...all);
  await look("welcome");
  await screen.mode.click();
  await screen.entry("ask").waitFor();
  await look("modes");
  await page.keyboard.press("Escape");

  answers(
    { text: texts.answer, ...asks({ tool: "list_directory", arguments: { path: "." } }) },
    { text: texts.answer },
  );
  await screen.say(texts.said);
  await model.asked(2);
  await screen.rests();
  await page.locator(".md-code code span").last().waitFor(); // highlighting follows later
  await look("conversation");

  await put(texts.file, texts.before);
  answers(asks(write(texts.file, texts.after)));
  await screen.choose("supervised");
  await screen.say(texts.said);
  await screen.isReady(screen.decision("reject"));
  await look("waiting");
  for (const panel of ["tell", "always", "edit"] as const) {
    await screen.decision(panel).click();
    await screen.decision("back").waitFor();
    await look(panel);
    await screen.decision("back").click();
  }
  await screen.decision("reject").click();
  await screen.rests();

  answers(asks(write(texts.file, texts.after), run(`rm ${texts.file}`)));
  await screen.say(texts.said);
  await screen.isReady(screen.decision("rejectAll", { n: 2 }));
  await look("several");
  await screen.choose("agent");
  await page.getByRole("dialog").waitFor();
  await look("switch");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await screen.decision("rejectAll", { n: 2 }).click();
  await screen.rests();

  const { question, options } = texts;
  answers(asks({ tool: "ask_user", arguments: { questions: [{ question, options }, { question }] } }), {
    error: { status: 400, message: texts.error },
  });
  await screen.say(texts.said);
  const form = page.getByRole("form", { name: screen.name("questions") });
  await form.getByRole("radio").first().check();
  await look("question");
  await screen.button("answer", form).click();
  await page
    .getByRole("article", { name: screen.name("error") })
    .last()
    .waitFor();
  await screen.rests();
  await look("error");
  for (const name of ["preferences", "rules", "shortcuts"] as const) await dialog(screen, name, look);
}

async function dialog(screen: Screen, name: Name, look: (what: string) => Promise<void>): Promise<void> {
  const { page } = screen;
  if ((page.viewportSize()?.width ?? 0) <= PHONE) await screen.button("show").click();
  await screen.button(name, page.getByRole("navigation")).click();
  await page.getByRole("dialog").waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0); // the dialog has loaded
  await look(name);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}
