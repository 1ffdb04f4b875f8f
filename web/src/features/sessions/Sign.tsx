/** How a conversation is doing, as a small sign with its words. */
import type { ContextSummary } from "../../api/schema";
import states from "../../api/states.json";
import { useWords } from "../../i18n/words";
import { Icon } from "../../ui/icons";
import "./sign.css";

const WORDS = {
  working: ["working", "进行中"],
  waiting: ["waits for you", "等待你处理"],
  damaged: ["damaged", "已损坏"],
} as const;

export type Doing = keyof typeof WORDS | null;

/** What a list knows of it. */
export function doingOf({ state, damage }: Pick<ContextSummary, "state" | "damage">): Doing {
  if (damage != null) return "damaged";
  if (state == null) return null;
  if (state.type === "awaiting_tool_approval" || state.type === "awaiting_user_answer") return "waiting";
  return states.resting.includes(state.type) ? null : "working";
}

/** What an open tab knows. */
export function doingOfTab({ isWaiting, isBusy }: { isWaiting: boolean; isBusy: boolean }): Doing {
  return isWaiting ? "waiting" : isBusy ? "working" : null;
}

export function Sign({ doing }: { doing: Doing }) {
  const t = useWords(WORDS);
  if (doing === null) return null;
  return (
    <span className={`sign is-${doing}`} title={t(doing)}>
      {doing === "damaged" && <Icon name="warning" size={14} />}
      <span className="hidden-visually">{t(doing)}: </span>
    </span>
  );
}
