/** Rejects calls with feedback: the agent receives the reason, and the turn continues. */
import { useEffect, useRef, useState } from "react";
import type { CallView } from "../../api/schema";
import { isComposing } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { notify } from "../../ui/Notices";
import { drafts } from "../chat/drafts";
import type { DockControls } from "./ApprovalDock";
import { PanelFrame } from "./DecisionPanel";

export function ReasonPanel({ dock, calls }: { dock: DockControls; calls: readonly CallView[] }) {
  const t = useTexts("approvals");
  const [reason, setReason] = useState("");
  const trimmed = reason.trim();
  const disabledReason = dock.disabledReason ?? (trimmed === "" ? t("reasonEmpty") : null);
  const draft = useUnsentReason(dock.id, trimmed, t("reasonKept"));
  const send = () => {
    if (disabledReason !== null) return;
    draft.discard();
    dock.decide(calls.map(({ id, digest }) => ({ id, digest, verdict: "reject", reason: trimmed })));
    dock.openPanel(null);
  };
  const back = () => {
    draft.discard();
    dock.openPanel(null);
  };
  return (
    <PanelFrame label={t("tell")} onBack={back} onSubmit={send}>
      <label className="panel-label">
        {t("reasonLabel")}
        <textarea
          className="field"
          rows={2}
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || isComposing(event.nativeEvent)) return;
            event.preventDefault();
            send();
          }}
        />
      </label>
      <div className="panel-foot">
        <span className="soft small">{t("reasonHint")}</span>
        <Button kind="quiet" onClick={back}>
          {t("back")}
        </Button>
        <Button kind="danger" type="submit" disabledReason={disabledReason}>
          {calls.length === 1 ? t("sendReason") : t("sendReasons", { n: calls.length })}
        </Button>
      </div>
    </PanelFrame>
  );
}

/** Moves an unsent reason to the composer if the panel closes because its call was decided elsewhere. */
function useUnsentReason(context: string, text: string, note: string): { discard(): void } {
  const latest = useRef({ text, note, isDropped: false });
  latest.current = { ...latest.current, text, note };
  useEffect(
    () => () => {
      const { text: unsent, note: notice, isDropped } = latest.current;
      if (isDropped || unsent === "") return;
      drafts.append(context, { text: unsent, files: [] });
      notify(notice);
    },
    [context],
  );
  return { discard: () => void (latest.current = { ...latest.current, isDropped: true }) };
}
