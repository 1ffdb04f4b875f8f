/** Measurements inside a page: frames, long tasks, layout shifts, interactions, timestamps in the model's answer. */
import type { Page } from "playwright-core";

export interface Seen {
  readonly gaps: readonly number[];
  readonly tasks: readonly number[];
  readonly shift: number;
  /** Milliseconds from each timestamp of the model until it was painted. */
  readonly delays: readonly number[];
  /** The longest duration by kind of interaction. */
  readonly interactions: Readonly<Record<string, number>>;
  readonly milliseconds: number;
}

type Watching = { stop(): Seen };

/** Starts the measurements; `measurements` returns them. */
export async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const gaps: number[] = [];
    const tasks: number[] = [];
    const delays: number[] = [];
    const interactions: Record<string, number> = {};
    const known = new Set<string>();
    let shift = 0;
    let isOver = false;
    let last = performance.now();
    const began = last;
    const frame = (now: number) => {
      gaps.push(now - last);
      last = now;
      if (!isOver) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const take = (entries: PerformanceEntryList) => {
      for (const entry of entries) {
        if (entry.entryType === "longtask") tasks.push(entry.duration);
        if ("hadRecentInput" in entry && entry.hadRecentInput === false && "value" in entry)
          shift += Number(entry.value);
        if (entry instanceof PerformanceEventTiming && entry.interactionId !== 0) {
          interactions[entry.name] = Math.max(interactions[entry.name] ?? 0, entry.duration);
        }
      }
    };
    const observer = new PerformanceObserver((list) => take(list.getEntries()));
    for (const type of ["longtask", "layout-shift"]) observer.observe({ type });
    observer.observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
    const stamps = new MutationObserver((changes) => {
      const fresh = new Set<string>();
      for (const { target, addedNodes } of changes) {
        for (const node of [target, ...addedNodes]) {
          for (const stamp of (node.textContent ?? "").slice(-400).match(/t\d{13}/g) ?? [])
            if (!known.has(stamp)) fresh.add(stamp);
        }
      }
      for (const stamp of fresh) known.add(stamp);
      if (fresh.size === 0) return;
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port2.onmessage = () => {
          for (const stamp of fresh) delays.push(performance.timeOrigin + performance.now() - Number(stamp.slice(1)));
        };
        port1.postMessage(null); // after the frame was painted
      });
    });
    const list = document.querySelector(".transcript");
    if (list !== null) {
      for (const stamp of list.textContent?.match(/t\d{13}/g) ?? []) known.add(stamp);
      stamps.observe(list, { subtree: true, childList: true, characterData: true });
    }
    const watching: Watching = {
      stop() {
        isOver = true;
        take(observer.takeRecords());
        observer.disconnect();
        stamps.disconnect();
        return { gaps: gaps.slice(1), tasks, shift, delays, interactions, milliseconds: performance.now() - began };
      },
    };
    Object.assign(window, { watching });
  });
}

export function seen(page: Page): Promise<Seen> {
  return page.evaluate(() => (window as unknown as { watching: Watching }).watching.stop());
}

export async function throttle(page: Page, times: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: times });
}
