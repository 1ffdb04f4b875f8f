/** The tabs on a phone: one button with the title and how many there are, and a menu of them. */
import { useWords } from "../../i18n/words";
import { Icon } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { Sign, doingOfTab } from "./Sign";
import { useTitle } from "./useActions";
import type { TabsAtHand } from "./useTabs";

const WORDS = {
  open: ["{title} {n} open {n|conversation|conversations}", "{title} {n} 个打开的对话"],
  new: ["New conversation", "新对话"],
  close: ["Close this tab", "关闭此标签页"],
} as const;

export function TabSwitcher({ at, title, onBegin }: { at: TabsAtHand; title: string; onBegin(): void }) {
  const t = useWords(WORDS);
  const titleOf = useTitle();
  const { active } = at;
  const others = at.open.filter((tab) => tab.id !== active);
  const needsHand = others.some((tab) => tab.isWaiting);
  return (
    <div className="tab-switcher">
      <Menu
        label={t("open", { title, n: at.open.length })}
        buttonClass="button quiet"
        button={
          <>
            <Sign doing={needsHand ? "waiting" : null} />
            <span className="tab-words">{title}</span> <span className="tab-count">{at.open.length}</span>
            <Icon name="chevron" size={14} />
          </>
        }
        entries={[
          ...at.open.map((tab) => ({
            key: tab.id,
            label: titleOf(tab.title),
            isChosen: tab.id === active,
            sign: <Sign doing={doingOfTab(tab)} />,
            onChoose: () => at.goTo(tab.id),
          })),
          { key: "new", label: t("new"), sign: <Icon name="add" />, onChoose: onBegin },
          ...(active === null
            ? []
            : [{ key: "close", label: t("close"), sign: <Icon name="close" />, onChoose: () => at.close(active) }]),
        ]}
      />
    </div>
  );
}
