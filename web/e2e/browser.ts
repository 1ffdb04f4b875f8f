/** Starts Chromium, and records the faults of pages: errors, foreign requests, dialogs. */
import { type Browser, type BrowserContext, type Page, chromium } from "playwright-core";

const CHROMIUM_ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // external requests fail and are recorded
];

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.PILOTHOUSE_CHROMIUM ?? "/usr/bin/chromium",
    args: CHROMIUM_ARGUMENTS,
  });
}

export interface PageOptions {
  readonly language?: "en" | "zh";
  readonly isDark?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly isTouch?: boolean;
  readonly scale?: number;
  /** The origin of a proxy in front of the server, whose certificate nobody knows. */
  readonly proxy?: string;
  /** Disables the content security policy, so that a test can inject scripts. */
  readonly bypassesPolicy?: boolean;
}

export function newContext(browser: Browser, options: PageOptions): Promise<BrowserContext> {
  return browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    deviceScaleFactor: options.scale ?? 1,
    colorScheme: options.isDark === true ? "dark" : "light",
    locale: options.language === "zh" ? "zh-CN" : "en-US",
    hasTouch: options.isTouch ?? false,
    isMobile: options.isTouch ?? false,
    bypassCSP: options.bypassesPolicy ?? false,
    ignoreHTTPSErrors: options.proxy !== undefined,
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
}

/** Reports faults of the context's pages: external requests, errors, dialogs, popups, crashes. */
export function recordFaults(context: BrowserContext, origin: string, reportFault: (text: string) => void): void {
  context.on("request", (request) => {
    const { protocol, origin: requestOrigin } = new URL(request.url());
    if (requestOrigin !== origin && protocol !== "data:" && protocol !== "blob:")
      reportFault(`a request left: ${request.url()}`);
  });
  context.on("page", (page) => {
    page.on("popup", (other) => reportFault(`another page was opened: ${other.url()}`));
    page.on("console", (message) => message.type() === "error" && reportFault(`console: ${message.text()}`));
    page.on("pageerror", (error) => reportFault(`page error: ${error.message}`));
    page.on("crash", () => reportFault("the page crashed"));
    page.on("dialog", (dialog) => {
      reportFault(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
}

/** Whether injected code ran: all hostile texts in the stories set this variable. */
export async function hasRunInjectedCode(page: Page): Promise<boolean> {
  return page.evaluate(() => "__pwned" in window);
}
