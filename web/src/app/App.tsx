/** The frame of the page: conversations at the side, tabs above, the conversation with what needs a hand, the box. */
import { useState } from "react";
import { Dock } from "../features/approvals/Dock";
import { Composer } from "../features/chat/Composer";
import { Queue } from "../features/chat/Queue";
import { StateLine } from "../features/chat/StateLine";
import { Transcript } from "../features/chat/Transcript";
import { Banner } from "../features/connection/Banner";
import { Questions } from "../features/questions/Questions";
import { Sidebar } from "../features/sessions/Sidebar";
import { Tabs } from "../features/sessions/Tabs";
import { Welcome } from "../features/sessions/Welcome";
import { Announcer } from "../ui/Announcer";
import { Notices } from "../ui/Notices";
import { lengthOf, visible } from "../store/selectors";
import type { State } from "../store/state";
import { useAddress } from "./address";
import { useLooks } from "./looks";
import { useActiveId, usePage, useSlice } from "./page";
import { Refusals } from "./Refusals";
import { useShortcut } from "./shortcuts";
import "./app.css";

const NARROW = "(max-width: 640px)";

export function App() {
  useLooks();
  useAddress();
  const { act } = usePage();
  const active = useActiveId();
  const isEmpty = useSlice((state) => active === null || isNew(state, active), [active]);
  const isCollapsed = useSlice((state) => state.session.value?.ui_state?.sidebar_collapsed ?? false);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const toggle = () => {
    if (matchMedia(NARROW).matches) setDrawerOpen(!isDrawerOpen);
    else act({ kind: "uiState", body: { sidebar_collapsed: !isCollapsed } });
  };
  useShortcut("sidebar.toggle", toggle);
  return (
    <div className={`app ${isCollapsed ? "is-collapsed" : ""} ${isDrawerOpen ? "is-drawer-open" : ""}`}>
      <Sidebar onToggle={toggle} onChosen={() => setDrawerOpen(false)} />
      <div className="app-shade" onClick={() => setDrawerOpen(false)} />
      <main className="app-main">
        <Tabs onToggle={toggle} />
        <Banner />
        {isEmpty ? <Welcome id={active} /> : <Transcript key={active} id={active ?? ""} />}
        <div className="app-foot">
          {active !== null && <Questions id={active} />}
          {active !== null && <Dock id={active} />}
          {active !== null && <StateLine id={active} />}
          {active !== null && <Queue id={active} />}
          <Composer id={active} />
        </div>
      </main>
      <Refusals />
      <Notices />
      <Announcer />
    </div>
  );
}

/** Nothing was said yet, and nothing is on its way. */
function isNew(state: State, id: string): boolean {
  return state.contexts[id]?.shape.value != null && lengthOf(state, id) === 0 && visible(state, id).sending.length === 0;
}
