/**
 * The panel for the input that a decision needs: a reason, a rule, edited arguments, an elevation. It replaces the
 * buttons.
 */
import type { ReactNode } from "react";
import type { CallView } from "../../api/schema";
import { useLanguage } from "../../app/appServices";
import { isComposing } from "../../app/shortcuts";
import { ForeignText } from "../../ui/ForeignText";
import { AlwaysPanel } from "./AlwaysPanel";
import type { DockControls } from "./ApprovalDock";
import { EditPanel } from "./EditPanel";
import { CallSummary } from "../tool-calls/CallSummary";
import { ElevatePanel } from "./ElevatePanel";
import { ReasonPanel } from "./ReasonPanel";
import { titleOf } from "../tool-calls/callText";
import "./panel.css";

/** The open panel and its calls. */
export interface OpenPanel {
  readonly kind: "reason" | "always" | "edit" | "elevate";
  readonly calls: readonly CallView[];
}

export function DecisionPanel({ dock, panel }: { dock: DockControls; panel: OpenPanel }) {
  const language = useLanguage();
  const [call] = panel.calls;
  if (call === undefined) return null;
  const isOneOfSeveral = panel.calls.length === 1 && dock.pendingCalls.length > 1;
  return (
    <>
      {isOneOfSeveral && panel.kind !== "elevate" && (
        <p className="panel-call">
          <strong>
            <ForeignText text={titleOf(call, language)} />
          </strong>{" "}
          <CallSummary call={call} workspace={dock.workspace} />
        </p>
      )}
      <DecisionPanelBody dock={dock} panel={panel} call={call} />
    </>
  );
}

function DecisionPanelBody({ dock, panel, call }: { dock: DockControls; panel: OpenPanel; call: CallView }) {
  switch (panel.kind) {
    case "reason":
      return <ReasonPanel dock={dock} calls={panel.calls} />;
    case "always":
      return <AlwaysPanel dock={dock} call={call} />;
    case "edit":
      return <EditPanel dock={dock} call={call} />;
    case "elevate":
      return <ElevatePanel dock={dock} />;
  }
}

/** The frame of a panel. Esc returns to the card without a decision. */
export function PanelFrame({
  label,
  onBack,
  onSubmit,
  children,
}: {
  label: string;
  onBack(): void;
  onSubmit(): void;
  children: ReactNode;
}) {
  return (
    <form
      className="panel"
      data-panel=""
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        // A held Enter that opened the panel must not submit it.
        if (event.key === "Enter" && event.repeat) event.preventDefault();
        if (event.key !== "Escape" || isComposing(event.nativeEvent)) return;
        event.preventDefault();
        event.stopPropagation();
        onBack();
      }}
    >
      {children}
    </form>
  );
}
