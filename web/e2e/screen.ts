/** A page as users see it: elements are found by role and name, in the language of the page. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { LANGUAGES } from "../src/i18n/languages";
import { type Params, type TextName, fillText, textsIn } from "../src/i18n/texts";

/** Accessible names in both languages. */
const NAMES = {
  composer: ["Message", "消息"],
  send: ["Send (Enter)", "发送（Enter）"],
  sendTouch: ["Send", "发送"],
  queue: ["Send after this turn (Enter)", "本轮结束后发送（Enter）"],
  you: ["You", "你"],
  agent: ["Agent", "智能体"],
  error: ["Error", "错误"],
  conversation: ["Conversation", "对话"],
  conversations: ["Conversations", "对话"],
  openOnes: ["Open conversations", "打开的对话"],
  new: ["New conversation", "新对话"],
  stop: ["Stop (Esc)", "停止（Esc）"],
  continue: ["Continue", "继续"],
  questions: ["Question from the agent", "智能体的提问"],
  answer: ["Answer", "回答"],
  show: ["Show conversations", "显示对话列表"],
  preferences: ["Preferences", "偏好设置"],
  rules: ["Rules", "规则"],
  shortcuts: ["Shortcuts", "快捷键"],
} as const;

export type Name = keyof typeof NAMES;
const MODES = {
  agent: ["Agent", "智能体"],
  supervised: ["Supervised", "逐步确认"],
  review: ["Review", "更改前确认"],
  plan: ["Plan", "计划"],
  ask: ["Ask", "仅对话"],
} as const;
type Mode = keyof typeof MODES;

export class Screen {
  constructor(
    readonly page: Page,
    readonly language: "en" | "zh",
    readonly isTouch: boolean,
  ) {}

  name(name: Name): string {
    return NAMES[name][this.language === "zh" ? 1 : 0];
  }

  button(name: Name, within: Page | Locator = this.page): Locator {
    return within.getByRole("button", { name: this.name(name), exact: true });
  }

  get composer(): Locator {
    return this.page.getByRole("textbox", { name: this.name("composer"), exact: true });
  }

  get transcript(): Locator {
    return this.page.getByRole("log");
  }

  get userMessages(): Locator {
    return this.transcript.getByRole("article", { name: this.name("you"), exact: true });
  }

  /** Waits until the transcript shows exactly these user messages: the fetch may end after the signal of the state. */
  async waitForUserMessages(...texts: string[]): Promise<void> {
    await expect
      .poll(() => this.userMessages.allTextContents(), { timeout: 10_000 })
      .toEqual(texts.map((text) => expect.stringContaining(text)));
  }

  get answers(): Locator {
    return this.transcript.getByRole("article", { name: this.name("agent"), exact: true });
  }

  /** The approval dock above the composer. */
  get dock(): Locator {
    return this.page.getByRole("region", { name: textsIn(this.language, "approvals")("dock") });
  }

  /** A button of the dock: its text, possibly followed by its shortcut. */
  decision(name: TextName<"approvals">, params: Params = {}, within: Locator = this.dock): Locator {
    const pattern = fillText(LANGUAGES[this.language].texts.approvals[name], params).replace(
      /[.*+?^${}()|[\]\\]/g,
      "\\$&",
    );
    return within.getByRole("button", { name: new RegExp(`^${pattern}( \\S+)?$`) });
  }

  /** The line of a call in the transcript. */
  callLine(text: string | RegExp): Locator {
    return this.transcript.getByRole("listitem").filter({ hasText: text });
  }

  /** The line with the state of the turn. */
  get stateLine(): Locator {
    return this.page.locator(".state-line");
  }

  get mode(): Locator {
    return this.page.locator("button.mode-button");
  }

  /** Sends a message, and waits until the server has stored it and the page has fetched it. */
  async sendMessage(text: string): Promise<void> {
    const response = this.page.waitForResponse(
      (answer) => answer.request().method() === "POST" && answer.url().endsWith("/messages"),
    );
    await this.composer.fill(text);
    await this.waitUntilReady(this.page.locator(".composer-send")); // a message cannot be sent while offline
    if (this.isTouch) await this.page.getByRole("button", { name: new RegExp(`^${this.name("sendTouch")}`) }).tap();
    else await this.composer.press("Enter");
    await response;
    await this.page.locator(".is-sending").first().waitFor({ state: "detached" });
  }

  /** An entry of the open mode menu. */
  modeEntry(mode: Mode): Locator {
    return this.page.getByRole("menuitemradio").filter({ has: this.page.getByText(this.title(mode), { exact: true }) });
  }

  title(mode: Mode): string {
    return MODES[mode][this.language === "zh" ? 1 : 0];
  }

  async chooseMode(mode: Mode): Promise<void> {
    await this.mode.click();
    await this.modeEntry(mode).click();
  }

  async waitForMode(mode: Mode): Promise<void> {
    await expect.poll(() => this.mode.textContent()).toContain(this.title(mode));
  }

  /** Waits until the turn has ended and no call is pending. */
  async waitUntilIdle(): Promise<void> {
    await this.page.locator('.state-line[data-state="idle"]').waitFor();
  }

  /** The tab of a conversation. */
  tab(title: string): Locator {
    return this.page
      .getByRole("list", { name: this.name("openOnes") })
      .getByRole("button")
      .filter({ hasText: title });
  }

  async waitUntilFocused(locator: Locator): Promise<void> {
    await expect.poll(() => locator.evaluate((element) => element === document.activeElement)).toBe(true);
  }

  /** Waits until a button is enabled: buttons that have just appeared are disabled. */
  async waitUntilReady(button: Locator): Promise<void> {
    await expect.poll(() => button.getAttribute("aria-disabled")).toBeNull();
  }

  /** Reads all unread parts, like a user who follows the hint. */
  async readCalls(within: Locator = this.dock): Promise<void> {
    const showUnreadButton = this.decision("showUnread", {}, within);
    const disabledControls = within.getByTitle(textsIn(this.language, "approvals")("loading"), { exact: true });
    await expect
      .poll(
        async () => {
          // The button disappears with the last unread line.
          if ((await showUnreadButton.count()) > 0) await showUnreadButton.click().catch(() => undefined);
          // New controls are disabled at first, and do not report yet that they are unread.
          return showUnreadButton.or(disabledControls).count(); // a single query, because these replace each other
        },
        { interval: 300, timeout: 60_000 },
      )
      .toBe(0);
  }

  /** Presses Tab until an element has the focus. */
  async tabTo(locator: Locator, times = 40): Promise<void> {
    for (let count = 0; count < times; count++) {
      if (await locator.evaluate((element) => element === document.activeElement)) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error("the Tab key does not lead there");
  }

  async waitForText(text: string | RegExp): Promise<void> {
    await this.transcript.getByText(text).first().waitFor();
  }
}
