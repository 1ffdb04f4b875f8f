/** Rejects with a reason: the agent is told, and goes on. */
import { useState } from "react";
import type { CallShape } from "../../api/schema";
import { isComposing } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import type { Deciding } from "./Dock";
import { PanelFrame } from "./Panel";
import { WORDS } from "./words";

export function ReasonPanel({ dock, calls }: { dock: Deciding; calls: readonly CallShape[] }) {
  const t = useWords(WORDS);
  const [reason, setReason] = useState("");
  const said = reason.trim();
  const whyNot = dock.off ?? (said === "" ? t("reasonEmpty") : null);
  const send = () => {
    if (whyNot !== null) return;
    dock.decide(calls.map(({ id, digest }) => ({ id, digest, verdict: "reject", reason: said })));
    dock.ask(null);
  };
  return (
    <PanelFrame label={t("tell")} onBack={() => dock.ask(null)} onSubmit={send}>
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
        <Button kind="quiet" onClick={() => dock.ask(null)}>
          {t("back")}
        </Button>
        <Button kind="danger" type="submit" whyNot={whyNot}>
          {calls.length === 1 ? t("sendReason") : t("sendReasons", { n: calls.length })}
        </Button>
      </div>
    </PanelFrame>
  );
}
