/** The mode in which new conversations begin. Who chooses for the first time that nothing is asked, says so twice. */
import { useState } from "react";
import { keep, kept } from "../../app/looks";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { visibleLine, visibleName } from "../../ui/names";
import { useMode } from "../modes/ModeSelector";
import { defaultMode } from "../modes/remembered";
import { useModes } from "../modes/useModes";

const WORDS = {
  mode: ["Mode", "模式"],
  sure: [
    "{mode} changes files and runs commands without asking you.",
    "{mode}模式会直接修改文件和运行命令，不会询问你。",
  ],
  yes: ["Begin with it", "以此模式开始"],
  no: ["Rather not", "还是不要"],
} as const;
const CONFIRMED = "pilothouse-agent-confirmed";
const UNASKED = "agent";

export function DefaultMode({ preferred, onChange }: { preferred: string | null; onChange(mode: string): void }) {
  const t = useWords(WORDS);
  const modes = useModes();
  const { remember } = useMode(null);
  const [asked, setAsked] = useState<string | null>(null);
  const take = (mode: string) => {
    setAsked(null);
    remember(mode); // else what was chosen here last would stand before it
    onChange(mode);
  };
  const choose = (mode: string) => (mode === UNASKED && kept(CONFIRMED) === null ? setAsked(mode) : take(mode));
  const title = visibleName(modes.find((mode) => mode.name === asked)?.title ?? "");
  return (
    <div className="dialog-stack">
      <Choice
        legend={t("mode")}
        value={asked ?? preferred ?? defaultMode(modes) ?? ""}
        options={modes.map((mode) => ({
          value: mode.name,
          label: visibleName(mode.title),
          note: visibleLine(mode.meaning),
        }))}
        onChange={choose}
      />
      {asked !== null && (
        <div className="note warn preferences-sure" role="alert">
          <span>{t("sure", { mode: title })}</span>
          <Button kind="small" onClick={() => (keep(CONFIRMED, "yes"), take(asked))}>
            {t("yes")}
          </Button>
          <Button kind="small" onClick={() => setAsked(null)}>
            {t("no")}
          </Button>
        </div>
      )}
    </div>
  );
}
