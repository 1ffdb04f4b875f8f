/** The buttons of one call. They never scroll away. For a dangerous call, no button is the primary one. */
import { useId } from "react";
import type { CallView } from "../../api/schema";
import { ariaKeys, formatKeys } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import type { DockControls } from "./ApprovalDock";
import { readSingleKeys } from "./decisionKeys";
import type { OpenPanel } from "./DecisionPanel";
import { isDangerous } from "../tool-calls/callText";
import { UnreadHint } from "../read-progress/UnreadHint";
import { isElevationOffer, type PendingCall } from "./pendingCalls";

export function DecisionButtons({ dock, pending: { call, sent } }: { dock: DockControls; pending: PendingCall }) {
  const t = useTexts("approvals");
  const reason = useId();
  if (sent !== null) return <Submitting sent={sent} />;
  const unread = dock.unreadReason([call]);
  return (
    <div className="actions">
      <UnreadHint id={reason} dock={dock} calls={[call]} />
      <Button
        kind={isDangerous(call) ? [] : "primary"}
        disabledReason={dock.disabledReason ?? unread}
        aria-describedby={unread === null ? undefined : reason}
        aria-keyshortcuts={isDangerous(call) ? undefined : "Enter 1"}
        onClick={() => decideOne(dock, call, "approve")}
      >
        {t(isElevationOffer(call) ? "approveOffer" : "approve")}
        {!isDangerous(call) && <kbd className="kbd">↵</kbd>}
      </Button>
      <Button
        kind="danger"
        disabledReason={dock.disabledReason}
        title={t("rejectMeans")}
        aria-keyshortcuts={`${ariaKeys("Mod+Backspace")} 3`}
        onClick={() => decideOne(dock, call, "reject")}
      >
        {t("reject")}
        <kbd className="kbd">{formatKeys("Mod+⌫")}</kbd>
      </Button>
      <PanelButtons dock={dock} call={call} />
    </div>
  );
}

/** The actions that open a panel. */
export function PanelButtons({ dock, call }: { dock: DockControls; call: CallView }) {
  const t = useTexts("approvals");
  const openPanelOf = (kind: OpenPanel["kind"]) => () => dock.openPanel({ kind, calls: [call] });
  return (
    <>
      <Button
        kind="quiet"
        disabledReason={dock.disabledReason}
        title={t("tellMeans")}
        aria-keyshortcuts="4 R"
        onClick={openPanelOf("reason")}
      >
        {t("tell")}
        <SingleKey name="R" />
      </Button>
      {(call.rule_offers ?? []).length > 0 && (
        <Button
          kind="quiet"
          disabledReason={dock.disabledReason}
          title={t("alwaysMeans")}
          aria-keyshortcuts="2"
          onClick={openPanelOf("always")}
        >
          {t("always")}
          <SingleKey name="2" />
        </Button>
      )}
      {isElevationOffer(call) && (
        <Button
          kind="quiet"
          disabledReason={dock.disabledReason}
          title={t("elevateMeans")}
          onClick={openPanelOf("elevate")}
        >
          {t("elevate")}
        </Button>
      )}
      <Button kind="quiet" disabledReason={dock.disabledReason} title={t("editMeans")} onClick={openPanelOf("edit")}>
        {t("edit")}
      </Button>
    </>
  );
}

/** The hint at a single-key shortcut, which can be turned off. */
function SingleKey({ name }: { name: string }) {
  return readSingleKeys() ? <kbd className="kbd">{name}</kbd> : null;
}

export function Submitting({ sent }: { sent: "approve" | "reject" }) {
  const t = useTexts("approvals");
  return (
    <p className="submitting">
      <span className="state-dot" aria-hidden="true" />
      {t(sent === "approve" ? "approving" : "rejecting")}
    </p>
  );
}

export function decideOne(dock: DockControls, call: CallView, verdict: "approve" | "reject"): void {
  dock.decide([{ id: call.id, digest: call.digest, verdict }]);
}
