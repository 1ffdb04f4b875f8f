/** The row of one of several pending calls. */
import { useId } from "react";
import { useLanguage } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { PanelButtons, Submitting, decideOne } from "./DecisionButtons";
import { CallPanel } from "../tool-calls/CallPanel";
import { lineCountText, countLines, parseDiff } from "../diff/unifiedDiff";
import type { DockControls } from "./ApprovalDock";
import { CallSummary } from "../tool-calls/CallSummary";
import { JumpButton } from "../tool-calls/JumpButton";
import { ReadTracker } from "../read-progress/readProgress";
import { summaryOf, isDangerous, risksOf, titleOf } from "../tool-calls/callText";
import { isElevationOffer, type PendingCall } from "./pendingCalls";

export function GroupRow({ dock, pending: { call, sent } }: { dock: DockControls; pending: PendingCall }) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const id = useId();
  const isOpen = dock.isOpen(call.id);
  const title = titleOf(call, language);
  const summary = summaryOf(call, dock.workspace);
  const diff = call.preview == null || call.preview_kind !== "file_change" ? null : parseDiff(call.preview);
  const lineCounts = diff === null ? null : countLines(diff);
  return (
    <div className="row" role="group" aria-labelledby={id} tabIndex={-1} data-call={call.id} aria-busy={sent !== null}>
      <div className="row-head" data-covers="">
        <label className="tick">
          <input
            type="checkbox"
            checked={dock.isChecked(call.id)}
            disabled={sent !== null}
            aria-label={t("choose", { what: `${title} ${summary}` })}
            onChange={() => dock.toggleChecked(call.id)}
          />
        </label>
        <button
          type="button"
          className="row-open"
          aria-expanded={isOpen}
          title={t("open", { what: title })}
          onClick={() => dock.toggle(call.id)}
        >
          <span className="row-chevron">
            <Icon name="chevron" size={16} />
          </span>
          <span className="row-title" id={id}>
            <ForeignText text={title} />
          </span>
          <CallSummary
            call={call}
            workspace={dock.workspace}
            extraClass={call.tool === "execute" ? "row-summary is-command" : "row-summary"}
          />
          {lineCounts !== null && <span className="row-counts">{lineCountText(lineCounts)}</span>}
        </button>
        {sent !== null ? (
          <Submitting sent={sent} />
        ) : (
          <span className="row-buttons">
            <Button
              kind="small"
              disabledReason={dock.disabledReason ?? dock.unreadReason([call])}
              onClick={() => decideOne(dock, call, "approve")}
            >
              {t(isElevationOffer(call) ? "approveOffer" : "approve")}
            </Button>
            <Button
              kind={["small", "danger"]}
              disabledReason={dock.disabledReason}
              onClick={() => decideOne(dock, call, "reject")}
            >
              {t("reject")}
            </Button>
          </span>
        )}
      </div>
      {isDangerous(call) && !isOpen && (
        <p className="risk row-risk">
          <Icon name="warning" size={16} />
          <span>{risksOf(call, language).join(" ")}</span>
        </p>
      )}
      {isOpen && (
        <div className="row-body">
          <ReadTracker key={call.digest} digest={call.digest}>
            <CallPanel call={call} workspace={dock.workspace} />
          </ReadTracker>
          {sent === null && (
            <div className="actions">
              <PanelButtons dock={dock} call={call} />
              <JumpButton call={call} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}
