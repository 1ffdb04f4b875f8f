/** What a decision still needs: a reason, a rule, other arguments, an end. It takes the place of the buttons. */
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

/** Which of them is open, and for which calls. */
export interface OpenPanel {
  readonly kind: "reason" | "always" | "edit" | "elevate";
  readonly calls: readonly CallView[];
}

export function Panel({ dock, panel }: { dock: DockControls; panel: OpenPanel }) {
  const language = useLanguage();
  const [call] = panel.calls;
  if (call === undefined) return null;
  const isOneOfSeveral = panel.calls.length === 1 && dock.waiting.length > 1;
  return (
    <>
      {isOneOfSeveral && panel.kind !== "elevate" && (
        <p className="panel-what">
          <strong>
            <ForeignText text={titleOf(call, language)} />
          </strong>{" "}
          <CallSummary call={call} workspace={dock.workspace} />
        </p>
      )}
      <PanelBody dock={dock} panel={panel} call={call} />
    </>
  );
}

function PanelBody({ dock, panel, call }: { dock: DockControls; panel: OpenPanel; call: CallView }) {
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

/** Esc goes back to the card, and decides nothing. */
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
        // A key that is still held down has opened this: it must not send it as well.
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
