/** Measurements inside a page: frames, long tasks, layout shifts, interactions, timestamps in the model's answer. */
import type { Page } from "playwright-core";

export interface Measurements {
  readonly gaps: readonly number[];
  readonly tasks: readonly number[];
  readonly shift: number;
  /** Milliseconds from each timestamp of the model until it was painted. */
  readonly delays: readonly number[];
  /** The longest duration by kind of interaction. */
  readonly interactions: Readonly<Record<string, number>>;
  readonly milliseconds: number;
}

type Recorder = { stop(): Measurements };

/** Starts the measurements; `measurements` returns them. */
export async function startMeasuring(page: Page): Promise<void> {
  await page.evaluate(() => {
    const gaps: number[] = [];
    const tasks: number[] = [];
    const delays: number[] = [];
    const interactions: Record<string, number> = {};
    const knownStamps = new Set<string>();
    let shift = 0;
    let isOver = false;
    let last = performance.now();
    const startedAt = last;
    const frame = (now: number) => {
      gaps.push(now - last);
      last = now;
      if (!isOver) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const addEntries = (entries: PerformanceEntryList) => {
      for (const entry of entries) {
        if (entry.entryType === "longtask") tasks.push(entry.duration);
        if ("hadRecentInput" in entry && entry.hadRecentInput === false && "value" in entry)
          shift += Number(entry.value);
        if (entry instanceof PerformanceEventTiming && entry.interactionId !== 0) {
          interactions[entry.name] = Math.max(interactions[entry.name] ?? 0, entry.duration);
        }
      }
    };
    const observer = new PerformanceObserver((list) => addEntries(list.getEntries()));
    for (const type of ["longtask", "layout-shift"]) observer.observe({ type });
    observer.observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
    const stamps = new MutationObserver((changes) => {
      const fresh = new Set<string>();
      for (const { target, addedNodes } of changes) {
        for (const node of [target, ...addedNodes]) {
          for (const stamp of (node.textContent ?? "").slice(-400).match(/t\d{13}/g) ?? [])
            if (!knownStamps.has(stamp)) fresh.add(stamp);
        }
      }
      for (const stamp of fresh) knownStamps.add(stamp);
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
      for (const stamp of list.textContent?.match(/t\d{13}/g) ?? []) knownStamps.add(stamp);
      stamps.observe(list, { subtree: true, childList: true, characterData: true });
    }
    const recorder: Recorder = {
      stop() {
        isOver = true;
        addEntries(observer.takeRecords());
        observer.disconnect();
        stamps.disconnect();
        return { gaps: gaps.slice(1), tasks, shift, delays, interactions, milliseconds: performance.now() - startedAt };
      },
    };
    Object.assign(window, { recorder });
  });
}

export function measurements(page: Page): Promise<Measurements> {
  return page.evaluate(() => (window as unknown as { recorder: Recorder }).recorder.stop());
}

export async function throttle(page: Page, times: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: times });
}
