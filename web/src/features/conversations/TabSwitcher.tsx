/** The tabs on a narrow screen: a button with the title and the number of tabs, and a menu. */
import { useTexts } from "../../i18n/texts";
import { Icon } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { StatusIcon, statusOfTab } from "./StatusIcon";
import { useTitleText } from "./useConversationActions";
import type { TabControls } from "./useTabs";

export function TabSwitcher({ controls, title, onNew }: { controls: TabControls; title: string; onNew(): void }) {
  const t = useTexts("tabSwitcher");
  const titleOf = useTitleText();
  const { active } = controls;
  const otherTabs = controls.tabs.filter((tab) => tab.id !== active);
  const isOtherWaiting = otherTabs.some((tab) => tab.isWaiting);
  return (
    <div className="tab-switcher">
      <Menu
        label={t("open", { title, n: controls.tabs.length })}
        buttonClass="button quiet"
        button={
          <>
            <StatusIcon status={isOtherWaiting ? "waiting" : null} />
            <span className="tab-words">{title}</span> <span className="tab-count">{controls.tabs.length}</span>
            <Icon name="chevron" size={14} />
          </>
        }
        entries={[
          ...controls.tabs.map((tab) => ({
            key: tab.id,
            label: titleOf(tab.title),
            isSelected: tab.id === active,
            icon: <StatusIcon status={statusOfTab(tab)} />,
            onSelect: () => controls.goTo(tab.id),
          })),
          { key: "new", label: t("new"), icon: <Icon name="add" />, onSelect: onNew },
          ...(active === null
            ? []
            : [
                {
                  key: "close",
                  label: t("close"),
                  icon: <Icon name="close" />,
                  onSelect: () => controls.close(active),
                },
              ]),
        ]}
      />
    </div>
  );
}
