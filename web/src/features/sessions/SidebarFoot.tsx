/** At the foot of the sidebar: the model that is set up, rules, preferences, shortcuts. */
export function SidebarFoot({}: { onOpened(): void }) {
  return null;
}
