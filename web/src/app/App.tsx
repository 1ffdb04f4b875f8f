/** The layout: conversations in the sidebar, tabs at the top, the transcript, then pending calls and the composer. */
import { useState } from "react";
import { ApprovalDock } from "../features/approvals/ApprovalDock";
import { Composer } from "../features/chat/composer/Composer";
import { MessageQueue } from "../features/chat/queue/MessageQueue";
import { StateLine } from "../features/chat/StateLine";
import { Transcript } from "../features/chat/transcript/Transcript";
import { ConnectionBanner } from "../features/connection/ConnectionBanner";
import { StorageBanner } from "../features/connection/StorageBanner";
import { Questions } from "../features/questions/Questions";
import { AppDialogs } from "./AppDialogs";
import { Sidebar } from "../features/conversations/Sidebar";
import { TabBar } from "../features/conversations/TabBar";
import { DamageNote, ContextError, mainViewOf } from "../features/conversations/ContextError";
import { TrustNotice } from "../features/trust/TrustNotice";
import { Welcome } from "../features/conversations/Welcome";
import { Announcer } from "../ui/Announcer";
import { Notices } from "../ui/Notices";
import { useHashRoute } from "./hashRoute";
import { useTheme } from "./theme";
import { NARROW, useMedia } from "./mediaQuery";
import { useActiveId, useAppServices, useSelector } from "./appServices";
import { RejectedCommands } from "./RejectedCommands";
import { useShortcut } from "./shortcuts";
import "./app.css";

export function App() {
  useTheme();
  useHashRoute();
  const { act } = useAppServices();
  const active = useActiveId();
  const view = useSelector((state) => mainViewOf(state, active), [active]);
  const isCollapsed = useSelector((state) => state.session.value?.ui_state?.sidebar_collapsed ?? false);
  const isNarrow = useMedia(NARROW);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const toggle = () => {
    if (isNarrow) setDrawerOpen(!isDrawerOpen);
    else act({ kind: "uiState", body: { sidebar_collapsed: !isCollapsed } });
  };
  useShortcut("sidebar.toggle", toggle);
  return (
    <div className={`app ${isCollapsed ? "is-collapsed" : ""} ${isDrawerOpen ? "is-drawer-open" : ""}`}>
      <Sidebar
        isDrawerOpen={isNarrow ? isDrawerOpen : null}
        onToggle={toggle}
        onNavigate={() => setDrawerOpen(false)}
      />
      <div className="app-shade" onClick={() => setDrawerOpen(false)} />
      <main className="app-main" inert={isNarrow && isDrawerOpen}>
        <TabBar hasTranscript={view === "transcript"} onToggle={toggle} />
        <ConnectionBanner />
        <StorageBanner />
        {active !== null && <TrustNotice key={`trust ${active}`} id={active} />}
        {active !== null && <DamageNote id={active} />}
        <div className="app-body">
          {view === "new" && <Welcome id={active} />}
          {view === "transcript" && <Transcript key={active} id={active ?? ""} />}
          {view !== "new" && view !== "transcript" && <ContextError id={active} view={view} />}
          <Notices />
        </div>
        <div className="app-foot">
          {active !== null && <Questions id={active} />}
          {active !== null && <ApprovalDock id={active} />}
          {active !== null && <StateLine id={active} />}
          {active !== null && <MessageQueue key={`queue ${active}`} id={active} />}
          <Composer id={active} />
        </div>
      </main>
      <AppDialogs />
      <RejectedCommands />
      <Announcer />
    </div>
  );
}
