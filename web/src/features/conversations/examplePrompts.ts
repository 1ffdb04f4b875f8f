/** Example prompts that fit the mode. For the demo model, only prompts that it understands. */
import type { TextName } from "../../i18n/catalogue";

type Example = TextName<"examples">;

const DEMO_AGENT_EXAMPLES: readonly Example[] = ["list", "write", "run", "steps"];
const DEMO_READ_ONLY_EXAMPLES: readonly Example[] = ["list", "read", "ask", "write"];
const DEMO_CHAT_EXAMPLES: readonly Example[] = ["abilities", "list"];
const AGENT_EXAMPLES: readonly Example[] = ["explain", "todos", "tests", "readme"];
const READ_ONLY_EXAMPLES: readonly Example[] = ["explain", "review", "plan", "risk"];
const CHAT_EXAMPLES: readonly Example[] = ["race", "compare", "commit", "naming"];

export function examplesFor(mode: string | null, isDemo: boolean): readonly Example[] {
  if (mode === "ask") return isDemo ? DEMO_CHAT_EXAMPLES : CHAT_EXAMPLES;
  if (mode === "plan" || mode === "review") return isDemo ? DEMO_READ_ONLY_EXAMPLES : READ_ONLY_EXAMPLES;
  return isDemo ? DEMO_AGENT_EXAMPLES : AGENT_EXAMPLES;
}
