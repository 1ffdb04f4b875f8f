/** What a decision still needs: a reason, a rule, other arguments, an end. It takes the place of the buttons. */
import type { ReactNode } from "react";
import type { CallShape } from "../../api/schema";
import { useLanguage } from "../../app/page";
import { isComposing } from "../../app/shortcuts";
import { ForeignText } from "../../ui/ForeignText";
import { AlwaysPanel } from "./AlwaysPanel";
import type { Deciding } from "./Dock";
import { EditPanel } from "./EditPanel";
import { Essence } from "./Essence";
import { ElevatePanel } from "./ElevatePanel";
import { ReasonPanel } from "./ReasonPanel";
import { titleOf } from "./tools";
import "./panel.css";

/** Which of them is open, and for which calls. */
export interface Asked {
  readonly kind: "reason" | "always" | "edit" | "elevate";
  readonly calls: readonly CallShape[];
}

export function Panel({ dock, asked }: { dock: Deciding; asked: Asked }) {
  const language = useLanguage();
  const [call] = asked.calls;
  if (call === undefined) return null;
  const isOneOfSeveral = asked.calls.length === 1 && dock.waiting.length > 1;
  return (
    <>
      {isOneOfSeveral && asked.kind !== "elevate" && (
        <p className="panel-what">
          <strong>
            <ForeignText text={titleOf(call, language)} />
          </strong>{" "}
          <Essence call={call} workspace={dock.workspace} />
        </p>
      )}
      <PanelOf dock={dock} asked={asked} call={call} />
    </>
  );
}

function PanelOf({ dock, asked, call }: { dock: Deciding; asked: Asked; call: CallShape }) {
  switch (asked.kind) {
    case "reason":
      return <ReasonPanel dock={dock} calls={asked.calls} />;
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
