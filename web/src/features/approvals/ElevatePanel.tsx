/**
 * Starts an elevation, which lets further calls run in a read-only mode: for a number of calls, for this turn, or for
 * some minutes.
 */
import { useState } from "react";
import type { ElevationBody } from "../../api/schema";
import { useAction, useAppServices } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import type { DockControls } from "./ApprovalDock";
import { PanelFrame } from "./DecisionPanel";
import { UnreadHint } from "../read-progress/UnreadHint";

const MAX_CALLS = 100;
const MAX_MINUTES = 24 * 60;

export function ElevatePanel({ dock }: { dock: DockControls }) {
  const t = useTexts("approvals");
  const { api } = useAppServices();
  const action = useAction();
  const [end, setEnd] = useState<"calls" | "turn" | "minutes">("calls");
  const [calls, setCalls] = useState(3);
  const [minutes, setMinutes] = useState(10);
  const pendingCalls = dock.pendingCalls.map(({ call }) => call); // an elevation may start any of them at once
  const digests = pendingCalls.map(({ digest }) => digest);
  const body: ElevationBody = {
    shown: digests,
    ...(end === "calls" ? { calls } : end === "minutes" ? { minutes } : { turn: true }),
  };
  const disabledReason = dock.disabledReason ?? dock.unreadReason(pendingCalls);
  const send = async () => {
    if (disabledReason !== null) return;
    dock.claim(pendingCalls);
    if (
      await action.run(() => api("POST /api/contexts/{context_id}/elevation", { path: { context_id: dock.id }, body }))
    )
      dock.openPanel(null);
  };
  const number = (label: string, value: number, max: number, set: (value: number) => void) => (
    <input
      className="field number"
      type="number"
      aria-label={label}
      min={1}
      max={max}
      required
      value={Number.isNaN(value) ? "" : value}
      onChange={(event) => set(event.target.valueAsNumber)}
    />
  );
  const choice = (name: typeof end, label: string) => (
    <label className="choice">
      <input
        type="radio"
        name="end"
        autoFocus={name === "calls"}
        checked={end === name}
        onChange={() => setEnd(name)}
      />
      <span>{label}</span>
    </label>
  );
  return (
    <PanelFrame label={t("elevate")} onBack={() => dock.openPanel(null)} onSubmit={() => void send()}>
      <p className="panel-label">{t("elevateTitle")}</p>
      <div className="panel-row">
        {choice("calls", t("elevateCalls"))}
        {end === "calls" && number(t("howMany"), calls, MAX_CALLS, setCalls)}
      </div>
      <div className="panel-row">{choice("turn", t("elevateTurn"))}</div>
      <div className="panel-row">
        {choice("minutes", t("elevateMinutes"))}
        {end === "minutes" && number(t("minutes"), minutes, MAX_MINUTES, setMinutes)}
      </div>
      <ProblemNote problem={action.problem} />
      <div className="panel-foot">
        <UnreadHint dock={dock} calls={pendingCalls} />
        <Button kind="quiet" onClick={() => dock.openPanel(null)}>
          {t("back")}
        </Button>
        <Button type="submit" disabledReason={disabledReason}>
          {t("elevateGo")}
        </Button>
      </div>
    </PanelFrame>
  );
}
