/** The mode of new conversations. Choosing the mode without approvals for the first time needs confirmation. */
import { useState } from "react";
import { readStorage, writeStorage } from "../../app/storage";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { RadioGroup } from "../../ui/ChoiceGroup";
import { visibleLine, visibleName } from "../../ui/safeText";
import { useMode } from "../modes/ModeSelector";
import { defaultMode } from "../modes/storedMode";
import { useModes } from "../modes/useModes";

const CONFIRMED_KEY = "pilothouse-agent-confirmed";
const UNATTENDED_MODE = "agent";

export function DefaultMode({ preferred, onChange }: { preferred: string | null; onChange(mode: string): void }) {
  const t = useTexts("defaultMode");
  const modes = useModes();
  const { remember } = useMode(null);
  const [unconfirmed, setUnconfirmed] = useState<string | null>(null);
  const save = (mode: string) => {
    setUnconfirmed(null);
    remember(mode); // otherwise the last chosen mode would take precedence
    onChange(mode);
  };
  const choose = (mode: string) =>
    mode === UNATTENDED_MODE && readStorage(CONFIRMED_KEY) === null ? setUnconfirmed(mode) : save(mode);
  const title = visibleName(modes.find((mode) => mode.name === unconfirmed)?.title ?? "");
  return (
    <div className="dialog-stack">
      <RadioGroup
        legend={t("mode")}
        value={unconfirmed ?? preferred ?? defaultMode(modes) ?? ""}
        options={modes.map((mode) => ({
          value: mode.name,
          label: visibleName(mode.title),
          note: visibleLine(mode.meaning),
        }))}
        onChange={choose}
      />
      {unconfirmed !== null && (
        <div className="note warn preferences-sure" role="alert">
          <span>{t("sure", { mode: title })}</span>
          <Button kind="small" onClick={() => (writeStorage(CONFIRMED_KEY, "yes"), save(unconfirmed))}>
            {t("yes")}
          </Button>
          <Button kind="small" onClick={() => setUnconfirmed(null)}>
            {t("no")}
          </Button>
        </div>
      )}
    </div>
  );
}
