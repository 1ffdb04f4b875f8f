/** The foot of the sidebar: the configured model, rules, preferences, shortcuts. */
import { useQuery, useSelector } from "../../app/appServices";
import { keysOf } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Button, IconButton } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName } from "../../ui/safeText";
import { type AppDialog, openDialog } from "../../app/dialogState";
import { useModels } from "../models/useModels";

export function SidebarFooter({ onOpened }: { onOpened(): void }) {
  const t = useTexts("sidebar");
  const model = useModels().find((each) => each.is_default);
  const isUp = useSelector((state) => state.connection.status === "up");
  const version = useQuery("GET /api/health", {}, isUp).value?.version;
  const open = (dialog: AppDialog) => () => {
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
