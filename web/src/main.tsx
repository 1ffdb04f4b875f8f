/** Entry point: creates the store, the runner and the React root. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { browserEnvironment } from "./environment";
import { createStream } from "./api/signalStream";
import { createApi, type Server } from "./api/http";
import { ModeSwitches } from "./api/modeSwitches";
import { createSendFile } from "./api/upload";
import { App } from "./app/App";
import { browserFrameScheduler, throttleToFrames } from "./app/frameThrottle";
import { notifySwitchOutcome } from "./features/modes/switchNotice";
import { type AppServices, AppServicesContext, languageOf } from "./app/appServices";
import { guardPresses } from "./app/pressGuard";
import { startRunner } from "./store/runner";
import { createStore } from "./store/store";
import "./ui/tokens.css";
import "./ui/base.css";

guardPresses(browserEnvironment.now);
const store = createStore(browserEnvironment);
// The page lies at the root of the server's addresses, which may have a path prefix.
const basePath = new URL(".", document.baseURI).pathname.replace(/\/$/, "");
const server: Server = {
  base: basePath,
  fetch: (address, request) => fetch(address, request),
  get headers() {
    return { "accept-language": languageOf(store.getSnapshot()) };
  },
};
const modeSwitches = new ModeSwitches();
const api = createApi(server, browserEnvironment, modeSwitches);
const runner = startRunner(store, api, createStream(server, browserEnvironment), browserEnvironment, (answer) =>
  notifySwitchOutcome(answer, languageOf(store.getSnapshot())),
);
// Retry at once when the tab becomes visible or the network is back.
for (const event of ["online", "pageshow"]) window.addEventListener(event, runner.wake);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && runner.wake());
const services: AppServices = {
  basePath,
  store: throttleToFrames(store, browserFrameScheduler),
  api,
  switches: modeSwitches,
  sendFile: createSendFile(server),
  environment: browserEnvironment,
  act: runner.act,
  wake: runner.wake,
};

const root = document.getElementById("root");
if (root === null) throw new Error("the document has no element #root");
createRoot(root).render(
  <StrictMode>
    <AppServicesContext value={services}>
      <App />
    </AppServicesContext>
  </StrictMode>,
);
