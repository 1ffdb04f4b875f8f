/** The frame of the page: conversations at the side, tabs above, the conversation with what needs a hand, the box. */
import { useState } from "react";
import { Dock } from "../features/approvals/Dock";
import { Composer } from "../features/chat/Composer";
import { Queue } from "../features/chat/Queue";
import { StateLine } from "../features/chat/StateLine";
import { Transcript } from "../features/chat/Transcript";
import { Banner } from "../features/connection/Banner";
import { StoreBanner } from "../features/connection/StoreBanner";
import { Questions } from "../features/questions/Questions";
import { PageDialogs } from "../features/sessions/PageDialogs";
import { Sidebar } from "../features/sessions/Sidebar";
import { Tabs } from "../features/sessions/Tabs";
import { DamageNote, Trouble, faceOf } from "../features/sessions/Trouble";
import { TrustNotice } from "../features/sessions/TrustNotice";
import { Welcome } from "../features/sessions/Welcome";
import { Announcer } from "../ui/Announcer";
import { Notices } from "../ui/Notices";
import { useAddress } from "./address";
import { useLooks } from "./looks";
import { NARROW, useMedia } from "./media";
import { useActiveId, usePage, useSlice } from "./page";
import { Refusals } from "./Refusals";
import { useShortcut } from "./shortcuts";
import "./app.css";

export function App() {
  useLooks();
  useAddress();
  const { act } = usePage();
  const active = useActiveId();
  const face = useSlice((state) => faceOf(state, active), [active]);
  const isCollapsed = useSlice((state) => state.session.value?.ui_state?.sidebar_collapsed ?? false);
  const isNarrow = useMedia(NARROW);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const toggle = () => {
    if (isNarrow) setDrawerOpen(!isDrawerOpen);
    else act({ kind: "uiState", body: { sidebar_collapsed: !isCollapsed } });
  };
  useShortcut("sidebar.toggle", toggle);
  return (
    <div className={`app ${isCollapsed ? "is-collapsed" : ""} ${isDrawerOpen ? "is-drawer-open" : ""}`}>
      <Sidebar isDrawerOpen={isNarrow ? isDrawerOpen : null} onToggle={toggle} onChosen={() => setDrawerOpen(false)} />
      <div className="app-shade" onClick={() => setDrawerOpen(false)} />
      <main className="app-main" inert={isNarrow && isDrawerOpen}>
        <Tabs isTalk={face === "talk"} onToggle={toggle} />
        <Banner />
        <StoreBanner />
        {active !== null && <TrustNotice key={`trust ${active}`} id={active} />}
        {active !== null && <DamageNote id={active} />}
        <div className="app-body">
          {face === "new" && <Welcome id={active} />}
          {face === "talk" && <Transcript key={active} id={active ?? ""} />}
          {face !== "new" && face !== "talk" && <Trouble id={active} face={face} />}
          <Notices />
        </div>
        <div className="app-foot">
          {active !== null && <Questions id={active} />}
          {active !== null && <Dock id={active} />}
          {active !== null && <StateLine id={active} />}
          {active !== null && <Queue key={`queue ${active}`} id={active} />}
          <Composer id={active} />
        </div>
      </main>
      <PageDialogs />
      <Refusals />
      <Announcer />
    </div>
  );
}
