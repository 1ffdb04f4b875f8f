/**
 * Screenshots of all main screens, in both languages and themes and on a phone, and those of the README. Not a test.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { ContextView } from "../src/api/schema";
import { calls, read } from "./toolCalls";
import type { Screen } from "./screen";
import { type World, story } from "./story";
import { tour } from "./tour";

const FOLDER = resolve(process.env.INIT_CWD ?? ".", process.env.PILOTHOUSE_PICTURES ?? ".");
mkdirSync(FOLDER, { recursive: true });

const TIDES = `"""When the water is high."""
from datetime import datetime, timedelta

HALF_DAY = timedelta(hours=12, minutes=25)


def next_high(last: datetime, now: datetime) -> datetime:
    """The first high water after now. All times are local."""
    while last <= now:
        last += HALF_DAY
    return last
`;
const FIXED = [
  { old_text: "from datetime import datetime, timedelta", new_text: "from datetime import UTC, datetime, timedelta" },
  {
    old_text:
      '    """The first high water after now. All times are local."""\n    while last <= now:\n        last += HALF_DAY\n    return last',
    new_text:
      '    """The first high water after now, in its zone."""\n    high = last.astimezone(UTC)\n    while high <= now:\n        high += HALF_DAY\n    return high.astimezone(now.tzinfo)',
  },
];
const WORDS = {
  en: {
    prompt: "The tide table is an hour off since the clocks changed. Find out why, and fix it.",
    first: "I will look at how the next high water is worked out.",
    finding:
      "Found it: `next_high` adds half a day to **local** time. On the night when the clocks change, that day has 23 hours:\n\n" +
      "| step | local | what it should be |\n|---|---|---|\n| last high | 20:10 | 20:10 |\n| + 12 h 25 min | 08:35 | **09:35** |\n\nI would count in UTC, and go back to local time at the end:",
    titles: ["Write a README for the harbour tools", "Why does the build take so long?", "Names for the new module"],
  },
  zh: {
    prompt: "换成夏令时之后，潮汐表差了一个小时。请找出原因并修复。",
    first: "我先看看下一次高潮是怎么计算的。",
    finding:
      "找到了：`next_high` 直接在**本地时间**上加半天。换时令的那一夜，一天只有 23 个小时：\n\n" +
      "| 步骤 | 本地时间 | 应为 |\n|---|---|---|\n| 上次高潮 | 20:10 | 20:10 |\n| + 12 小时 25 分 | 08:35 | **09:35** |\n\n我会用 UTC 计算，最后再转换为本地时间：",
    titles: ["为港口工具写一份 README", "为什么构建这么慢？", "新模块的名字"],
  },
};

/** A small project in supervised mode: two files were read, and an edit waits for approval. */
async function openPendingEdit({ model, request, put }: World, screen: Screen): Promise<void> {
  const words = WORDS[screen.language];
  for (const title of [...words.titles].reverse()) {
    const { context_id: id } = await request<ContextView>("POST", "/api/contexts", {});
    await request<ContextView>("PATCH", `/api/contexts/${id}`, { title });
  }
  await put("tides.py", TIDES);
  model.answers(
    { text: words.first, ...calls(read("tides.py")) },
    { text: words.finding, ...calls({ tool: "edit_file", arguments: { path: "tides.py", edits: FIXED } }) },
  );
  await screen.page.reload();
  await screen.chooseMode("supervised");
  await screen.sendMessage(words.prompt);
  await screen.decision("approve").click();
  await screen.dock.getByText("tides.py").first().waitFor();
  await screen.dock.getByText("astimezone").first().waitFor();
  await screen.waitUntilReady(screen.decision("approve"));
  if (!screen.isTouch) await screen.page.getByRole("navigation").getByText(words.prompt.slice(0, 8)).waitFor();
  await screen.page.mouse.move(0, 0);
  await screen.page.evaluate(() => document.fonts.ready);
}

const PHONE_VIEWPORT = { width: 390, height: 844, isTouch: true };
const README = { light: {}, dark: { isDark: true }, chinese: { language: "zh" }, phone: PHONE_VIEWPORT } as const;
const MODEL = "qwen3-coder";

for (const [name, options] of Object.entries(README)) {
  const run = async (world: World) => {
    const screen = await world.open({ height: 880, ...options, scale: 2 });
    await openPendingEdit(world, screen);
    await screen.page.screenshot({ path: `${FOLDER}/${name}.png` });
  };
  story(`the picture ${name}`, run, MODEL);
}

for (const language of ["en", "zh"] as const) {
  for (const isDark of [false, true]) {
    for (const size of [{}, PHONE_VIEWPORT]) {
      const name = [language, isDark ? "dark" : "light", ...("width" in size ? ["phone"] : [])].join("-");
      story(`the screens ${name}`, async (world) => {
        const screen = await world.open({ language, isDark, ...size });
        let number = 0;
        await tour(world, screen, async (screenName) => {
          number++;
          await screen.page.screenshot({
            path: `${FOLDER}/screens/${name}/${String(number).padStart(2, "0")}-${screenName}.png`,
          });
        });
      });
    }
  }
}
