/** The sign of a mode: drawn for those that come with it, a character of their own for the others. */
import type { ModeShape } from "../../api/schema";
import { Icon, type IconName } from "../../ui/icons";

const DRAWN: Readonly<Record<string, IconName>> = {
  agent: "mode-agent",
  supervised: "mode-supervised",
  review: "mode-review",
  plan: "mode-plan",
  ask: "mode-ask",
};

export function ModeSign({ mode }: { mode: Pick<ModeShape, "name" | "icon"> }) {
  const drawn = Object.hasOwn(DRAWN, mode.name) ? DRAWN[mode.name] : undefined;
  return drawn === undefined ? <span aria-hidden="true">{mode.icon}</span> : <Icon name={drawn} size={16} />;
}
