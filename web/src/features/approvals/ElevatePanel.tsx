/** In a mode that only reads: let more calls run, always with an end. */
import { useState } from "react";
import type { ElevationBody } from "../../api/schema";
import { useDoing, usePage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import type { Deciding } from "./Dock";
import { PanelFrame } from "./Panel";
import { UnreadHint } from "./UnreadHint";
import { WORDS } from "./words";

const CALLS_AT_MOST = 100;
const MINUTES_AT_MOST = 24 * 60;

export function ElevatePanel({ dock }: { dock: Deciding }) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const doing = useDoing();
  const [end, setEnd] = useState<"calls" | "turn" | "minutes">("calls");
  const [calls, setCalls] = useState(3);
  const [minutes, setMinutes] = useState(10);
  const waiting = dock.waiting.map(({ call }) => call); // all of them may start at once
  const shown = waiting.map(({ digest }) => digest);
  const body: ElevationBody = {
    shown,
    ...(end === "calls" ? { calls } : end === "minutes" ? { minutes } : { turn: true }),
  };
  const whyNot = dock.off ?? dock.whyUnread(waiting);
  const send = async () => {
    if (whyNot !== null) return;
    dock.claim(waiting);
    if (
      await doing.run(() => api("POST /api/contexts/{context_id}/elevation", { path: { context_id: dock.id }, body }))
    )
      dock.ask(null);
  };
  const number = (label: string, value: number, most: number, set: (value: number) => void) => (
    <input
      className="field number"
      type="number"
      aria-label={label}
      min={1}
      max={most}
      required
      value={Number.isNaN(value) ? "" : value}
      onChange={(event) => set(event.target.valueAsNumber)}
    />
  );
  const choice = (name: typeof end, words: string) => (
    <label className="choice">
      <input
        type="radio"
        name="end"
        autoFocus={name === "calls"}
        checked={end === name}
        onChange={() => setEnd(name)}
      />
      <span>{words}</span>
    </label>
  );
  return (
    <PanelFrame label={t("elevate")} onBack={() => dock.ask(null)} onSubmit={() => void send()}>
      <p className="panel-label">{t("elevateTitle")}</p>
      <div className="panel-row">
        {choice("calls", t("elevateCalls"))}
        {end === "calls" && number(t("howMany"), calls, CALLS_AT_MOST, setCalls)}
      </div>
      <div className="panel-row">{choice("turn", t("elevateTurn"))}</div>
      <div className="panel-row">
        {choice("minutes", t("elevateMinutes"))}
        {end === "minutes" && number(t("minutes"), minutes, MINUTES_AT_MOST, setMinutes)}
      </div>
      <ProblemNote problem={doing.problem} />
      <div className="panel-foot">
        <UnreadHint dock={dock} calls={waiting} />
        <Button kind="quiet" onClick={() => dock.ask(null)}>
          {t("back")}
        </Button>
        <Button type="submit" whyNot={whyNot}>
          {t("elevateGo")}
        </Button>
      </div>
    </PanelFrame>
  );
}
