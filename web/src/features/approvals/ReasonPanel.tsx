/** Rejects with a reason: the agent is told, and goes on. */
import { useEffect, useRef, useState } from "react";
import type { CallShape } from "../../api/schema";
import { isComposing } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { notify } from "../../ui/Notices";
import { drafts } from "../chat/drafts";
import type { Deciding } from "./Dock";
import { PanelFrame } from "./Panel";
import { WORDS } from "./words";

export function ReasonPanel({ dock, calls }: { dock: Deciding; calls: readonly CallShape[] }) {
  const t = useWords(WORDS);
  const [reason, setReason] = useState("");
  const said = reason.trim();
  const whyNot = dock.off ?? (said === "" ? t("reasonEmpty") : null);
  const written = useKept(dock.id, said, t("reasonKept"));
  const send = () => {
    if (whyNot !== null) return;
    written.drop();
    dock.decide(calls.map(({ id, digest }) => ({ id, digest, verdict: "reject", reason: said })));
    dock.ask(null);
  };
  const back = () => {
    written.drop();
    dock.ask(null);
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
        <Button kind="danger" type="submit" whyNot={whyNot}>
          {calls.length === 1 ? t("sendReason") : t("sendReasons", { n: calls.length })}
        </Button>
      </div>
    </PanelFrame>
  );
}

/** What is written here goes on in the box when the panel goes by itself: its call was decided elsewhere. */
function useKept(context: string, text: string, note: string): { drop(): void } {
  const latest = useRef({ text, note, isDropped: false });
  latest.current = { ...latest.current, text, note };
  useEffect(
    () => () => {
      const { text: left, note: told, isDropped } = latest.current;
      if (isDropped || left === "") return;
      drafts.add(context, { text: left, files: [] });
      notify(told);
    },
    [context],
  );
  return { drop: () => void (latest.current = { ...latest.current, isDropped: true }) };
}
