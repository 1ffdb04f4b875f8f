/** The icon of a mode: drawn for built-in modes, a character for custom modes. */
import type { ModeView } from "../../api/schema";
import { Icon, type IconName } from "../../ui/icons";

const MODE_ICONS: Readonly<Record<string, IconName>> = {
  agent: "mode-agent",
  supervised: "mode-supervised",
  review: "mode-review",
  plan: "mode-plan",
  ask: "mode-ask",
};

export function ModeIcon({ mode }: { mode: Pick<ModeView, "name" | "icon"> }) {
  const icon = Object.hasOwn(MODE_ICONS, mode.name) ? MODE_ICONS[mode.name] : undefined;
  return icon === undefined ? <span aria-hidden="true">{mode.icon}</span> : <Icon name={icon} size={16} />;
}
