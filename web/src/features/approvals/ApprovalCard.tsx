/** The approval card: one pending call in full, or several calls in rows, with the decision buttons below. */
import { useId } from "react";
import { useLanguage } from "../../app/appServices";
import { ariaKeysOf, keysOf } from "../../app/shortcuts";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { useModeTitle } from "../modes/useModes";
import { IconButton } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { DecisionButtons } from "./DecisionButtons";
import { CallPanel } from "../tool-calls/CallPanel";
import type { DockControls } from "./ApprovalDock";
import { GroupActions, GroupRows } from "./CallGroup";
import { ReadTracker } from "../read-progress/readProgress";
import { JumpButton } from "../tool-calls/JumpButton";
import { SCROLL_TARGET, scrollByKey } from "./scrollKeys";
import { DecisionPanel } from "./DecisionPanel";
import { summaryOf, titleOf } from "../tool-calls/callText";
import { isElevationOffer, type PendingCall } from "./pendingCalls";

/** The card keeps its identity while other calls come and go, so that an open panel keeps its unsent text. */
export function ApprovalCard({ dock }: { dock: DockControls }) {
  const t = useTexts("approvals");
  const id = useId();
  const { panel, pendingCalls } = dock;
  const single = pendingCalls.length === 1 ? pendingCalls[0] : undefined;
  const focusProps =
    single === undefined ? {} : { tabIndex: -1, "data-call": single.call.id, "aria-busy": single.sent !== null };
  return (
    <div
      className={dock.isLarge ? "card is-large" : "card"}
      role="group"
      aria-labelledby={id}
      onKeyDown={scrollByKey}
      {...focusProps}
    >
      <header className="card-head">
        <Icon name="rule" />
        {single === undefined ? (
          <>
            <h2 id={id} className="card-title">
              {t("group", { n: pendingCalls.length })}
            </h2>
            <FocusHint />
            <SizeButton dock={dock} />
          </>
        ) : (
          <CardTitle id={id} dock={dock} pending={single} />
        )}
      </header>
      {panel?.kind !== "edit" &&
        (single === undefined ? (
          <GroupRows dock={dock} />
        ) : (
          <CardBody key={single.call.id} dock={dock} pending={single} />
        ))}
      <footer className="card-foot">
        {panel !== null ? (
          <DecisionPanel key={`${panel.kind} ${panel.calls[0]?.id}`} dock={dock} panel={panel} />
        ) : single === undefined ? (
          <GroupActions dock={dock} />
        ) : (
          <DecisionButtons key={single.call.id} dock={dock} pending={single} />
        )}
      </footer>
    </div>
  );
}

function CardTitle({ id, dock, pending: { call } }: { id: string; dock: DockControls; pending: PendingCall }) {
  const t = useTexts("approvals");
  const language = useLanguage();
  return (
    <>
      <h2 id={id} className="card-title">
        <span className="card-kind">{t(isElevationOffer(call) ? "dockOffer" : "dock")}</span>{" "}
        <ForeignText text={titleOf(call, language)} />
        <span className="hidden-visually"> {summaryOf(call, dock.workspace)}</span>
      </h2>
      <FocusHint />
      <SizeButton dock={dock} />
      <JumpButton call={call} />
    </>
  );
}

/** Shows the shortcut that moves the focus to the card; hidden while the card has the focus. */
function FocusHint() {
  const t = useTexts("approvals");
  return <span className="card-reach soft small">{t("reach", { keys: keysOf("approval.focus") })}</span>;
}

function SizeButton({ dock }: { dock: DockControls }) {
  const t = useTexts("approvals");
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon={dock.isLarge ? "shrink" : "enlarge"}
      label={t(dock.isLarge ? "shrink" : "enlarge")}
      title={`${t(dock.isLarge ? "shrink" : "enlarge")} · ${keysOf("approval.enlarge")}`}
      aria-keyshortcuts={ariaKeysOf("approval.enlarge")}
      onClick={dock.isLarge ? dock.shrink : dock.enlarge}
    />
  );
}

function CardBody({ dock, pending: { call } }: { dock: DockControls; pending: PendingCall }) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const modeTitle = useModeTitle();
  return (
    <div className="card-body" role="region" tabIndex={0} aria-label={t("wholeCall")} {...SCROLL_TARGET}>
      <ReadTracker key={call.digest} digest={call.digest}>
        <CallPanel call={call} workspace={dock.workspace} />
      </ReadTracker>
      {call.reason != null && (
        <p className="soft small">
          {isElevationOffer(call) ? (
            t("offerMeans", { mode: modeTitle(String(call.reason.params?.mode ?? "")) })
          ) : (
            <ForeignText text={translateReason(call.reason, language)} />
          )}
        </p>
      )}
    </div>
  );
}
