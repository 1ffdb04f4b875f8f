import { expect, test } from "vitest";
import type { CallView, Health } from "../src/api/schema";
import { decisionText, outcomeOf, outcomeText } from "../src/features/tool-calls/callOutcome";
import { isStoreRefused } from "../src/features/connection/StorageBanner";

const call = (more: object = {}): CallView => ({
  id: "c",
  message_id: "m",
  tool: "execute",
  display_name: "execute",
  arguments: { command: "false" },
  digest: "",
  effect: "mutating",
  read_only: false,
  status: "executed",
  requested_at: "",
  ...more,
});

test("a command that exited with an error is not shown as done", () => {
  expect([outcomeOf(call({ exit_status: 3 })), outcomeText(call({ exit_status: 3 }), "en")]).toEqual([
    "failed",
    "failed, exit code 3",
  ]);
  expect(outcomeText(call({ exit_status: 3 }), "zh")).toBe("失败，退出代码 3");
  for (const exit_status of [0, null, undefined])
    expect([outcomeOf(call({ exit_status })), outcomeText(call({ exit_status }), "en")]).toEqual(["executed", "done"]);
  expect(outcomeOf(call({ status: "cancelled", exit_status: null }))).toBe("cancelled");
});

test("an already decided call shows the decision and its author", () => {
  expect(decisionText(call({ status: "rejected", decided_by: "ada" }), "en")).toBe("rejected by ada");
  expect(decisionText(call({ status: "rejected", decided_by: "ada" }), "zh")).toBe("已拒绝（由 ada 决定）");
  expect(decisionText(call({ status: "rejected" }), "en")).toBe("rejected");
});

test("every health status except ok and stopping means that the server cannot save", () => {
  const health = (status: string) => ({ status }) as Health;
  expect([null, health("ok"), health("stopping"), health("degraded")].map(isStoreRefused)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test("a problem with somebody's rules does not mean that the server cannot save", () => {
  const health = (...codes: string[]) =>
    ({ status: "warning", problems: codes.map((code) => ({ code })) }) as unknown as Health;
  expect(isStoreRefused(health("rules_cut"))).toBe(false);
  expect(isStoreRefused(health("rules_cut", "disk_space_low"))).toBe(true);
});
