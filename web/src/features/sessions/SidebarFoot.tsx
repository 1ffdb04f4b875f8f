/** At the foot of the sidebar: the model that is set up, rules, preferences, shortcuts. */
import { useAsked, useSlice } from "../../app/page";
import { keysOf } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button, IconButton } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName } from "../../ui/names";
import { type PageDialog, openDialog } from "./opened";
import { useModels } from "./useModels";

const WORDS = {
  setup: ["Model: {name}. Set it up", "模型：{name}。进行设置"],
  demo: ["Demo model", "演示模型"],
  set: ["Set up the model", "设置模型"],
  preferences: ["Preferences", "偏好设置"],
  rules: ["Rules", "规则"],
  shortcuts: ["Shortcuts", "快捷键"],
} as const;

export function SidebarFoot({ onOpened }: { onOpened(): void }) {
  const t = useWords(WORDS);
  const model = useModels().find((each) => each.is_default);
  const isUp = useSlice((state) => state.connection.is === "up");
  const version = useAsked("GET /api/health", {}, isUp).value?.version;
  const open = (dialog: PageDialog) => () => {
    onOpened();
    openDialog(dialog);
  };
  const name = model === undefined ? "" : model.is_demo ? t("demo") : visibleName(model.name);
  return (
    <footer className="sidebar-foot">
      {model !== undefined && (
        <Button
          kind="quiet"
          icon="helm"
          extraClass="sidebar-model"
          title={t("set")}
          aria-label={t("setup", { name })}
          onClick={open("setup")}
        >
          <span className="sidebar-title">
            <ForeignText text={name} />
          </span>
        </Button>
      )}
      <div className="sidebar-tools">
        <IconButton icon="gear" label={t("preferences")} onClick={open("preferences")} />
        <IconButton icon="rule" label={t("rules")} onClick={open("rules")} />
        <IconButton
          icon="keyboard"
          label={t("shortcuts")}
          title={`${t("shortcuts")} (${keysOf("help.open")})`}
          onClick={open("shortcuts")}
        />
        {version !== undefined && <span className="soft small">{visibleName(version)}</span>}
      </div>
    </footer>
  );
}
