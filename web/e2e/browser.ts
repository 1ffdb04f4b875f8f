/** Starts Chromium, and records the faults of pages: errors, foreign requests, dialogs. */
import { type Browser, type BrowserContext, type Page, chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // external requests fail and are recorded
];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.PILOTHOUSE_CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
}

export interface Looks {
  readonly language?: "en" | "zh";
  readonly isDark?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly isTouch?: boolean;
  readonly scale?: number;
  /** Disables the content security policy, so that a test can inject scripts. */
  readonly bypassesPolicy?: boolean;
}

export function newContext(browser: Browser, looks: Looks): Promise<BrowserContext> {
  return browser.newContext({
    viewport: { width: looks.width ?? 1280, height: looks.height ?? 800 },
    deviceScaleFactor: looks.scale ?? 1,
    colorScheme: looks.isDark === true ? "dark" : "light",
    locale: looks.language === "zh" ? "zh-CN" : "en-US",
    hasTouch: looks.isTouch ?? false,
    isMobile: looks.isTouch ?? false,
    bypassCSP: looks.bypassesPolicy ?? false,
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
}

/** Reports faults of the context's pages: external requests, errors, dialogs, popups, crashes. */
export function watch(context: BrowserContext, origin: string, fault: (text: string) => void): void {
  context.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (asked !== origin && protocol !== "data:" && protocol !== "blob:") fault(`a request left: ${request.url()}`);
  });
  context.on("page", (page) => {
    page.on("popup", (other) => fault(`another page was opened: ${other.url()}`));
    page.on("console", (message) => message.type() === "error" && fault(`console: ${message.text()}`));
    page.on("pageerror", (error) => fault(`page error: ${error.message}`));
    page.on("crash", () => fault("the page crashed"));
    page.on("dialog", (dialog) => {
      fault(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
}

/** Whether injected code ran: all hostile texts in the stories set this variable. */
export async function wasBroken(page: Page): Promise<boolean> {
  return page.evaluate(() => "__pwned" in window);
}
