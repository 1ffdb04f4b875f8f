/** Puts the page together: one store, one runner, one root. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { systemAmbient } from "./ambient";
import { makeStream } from "./api/events";
import { makeApi, type Server } from "./api/http";
import { ModeSwitches } from "./api/modeSwitches";
import { makeSendFile } from "./api/upload";
import { App } from "./app/App";
import { browserFrames, paced } from "./app/pace";
import { tellOutcome } from "./features/modes/outcome";
import { type Page, PageContext, languageOf } from "./app/page";
import { guardPresses } from "./app/pressGuard";
import { run } from "./store/runner";
import { createStore } from "./store/store";
import "./ui/tokens.css";
import "./ui/base.css";

guardPresses(systemAmbient.now);
const store = createStore(systemAmbient);
const server: Server = {
  fetch: (address, request) => fetch(address, request),
  get headers() {
    return { "accept-language": languageOf(store.getSnapshot()) };
  },
};
const switches = new ModeSwitches();
const api = makeApi(server, systemAmbient, switches);
const runner = run(store, api, makeStream(server, systemAmbient), systemAmbient, (answer) =>
  tellOutcome(answer, languageOf(store.getSnapshot())),
);
// Whoever comes back, or has a network again, waits for no clock.
for (const event of ["online", "pageshow"]) window.addEventListener(event, runner.wake);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && runner.wake());
const page: Page = {
  store: paced(store, browserFrames),
  api,
  switches,
  sendFile: makeSendFile(server),
  ambient: systemAmbient,
  act: runner.act,
  wake: runner.wake,
};

const root = document.getElementById("page");
if (root === null) throw new Error("the document has no place for the page");
createRoot(root).render(
  <StrictMode>
    <PageContext value={page}>
      <App />
    </PageContext>
  </StrictMode>,
);
