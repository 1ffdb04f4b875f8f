/** Several pending calls: a row for each, and decisions about all of them or the ticked ones. */
import { type KeyboardEvent, useId } from "react";
import { ariaKeys, formatKeys } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import type { DockControls } from "./ApprovalDock";
import { GroupRow } from "./GroupRow";
import { SCROLL_TARGET } from "./scrollKeys";
import { isDangerous } from "../tool-calls/callText";
import { UnreadHint } from "../read-progress/UnreadHint";
import "./group.css";

export function GroupRows({ dock }: { dock: DockControls }) {
  const t = useTexts("approvals");
  return (
    <div
      className="card-body card-rows"
      role="region"
      tabIndex={0}
      aria-label={t("wholeCall")}
      onKeyDown={moveFocus}
      {...SCROLL_TARGET}
    >
      {dock.pendingCalls.map((pending) => (
        <GroupRow key={pending.call.id} dock={dock} pending={pending} />
      ))}
    </div>
  );
}

export function GroupActions({ dock }: { dock: DockControls }) {
  const t = useTexts("approvals");
  const { selected } = dock;
  const isAll = !selected.some((call) => dock.isChecked(call.id));
  const unread = dock.unreadReason(selected);
  const reason = useId();
  const n = selected.length;
  const decide = (verdict: "approve" | "reject") =>
    dock.decide(selected.map((call) => ({ id: call.id, digest: call.digest, verdict })));
  return (
    <div className="actions">
      <UnreadHint id={reason} dock={dock} calls={selected} />
      <Button
        kind={selected.some(isDangerous) ? [] : "primary"}
        disabledReason={dock.disabledReason ?? unread}
        aria-describedby={unread === null ? undefined : reason}
        aria-keyshortcuts="Shift+Enter"
        onClick={() => decide("approve")}
      >
        {t(isAll ? "approveAll" : "approveSome", { n })}
        <kbd className="kbd">⇧↵</kbd>
      </Button>
      <Button
        kind="danger"
        disabledReason={dock.disabledReason}
        aria-keyshortcuts={ariaKeys("Mod+Shift+Backspace")}
        onClick={() => decide("reject")}
      >
        {t(isAll ? "rejectAll" : "rejectSome", { n })}
        <kbd className="kbd">{formatKeys("Mod+⇧⌫")}</kbd>
      </Button>
      <Button
        kind="quiet"
        disabledReason={dock.disabledReason}
        title={t("tellMeans")}
        onClick={() => dock.openPanel({ kind: "reason", calls: selected })}
      >
        {t("tell")}
      </Button>
    </div>
  );
}

/** Moves the focus between rows with the arrow keys. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (
    !(event.target instanceof HTMLElement) ||
    event.target.closest(".lines, input:not([type='checkbox']), textarea") !== null
  )
    return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-call]")];
  const current = rows.findIndex((row) => row.contains(event.target instanceof Node ? event.target : null));
  const next = rows[current + (event.key === "ArrowDown" ? 1 : -1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
