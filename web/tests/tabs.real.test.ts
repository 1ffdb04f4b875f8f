import { afterEach, expect, test } from "vitest";
import { browserEnvironment } from "../src/environment";
import { type Api, createApi } from "../src/api/http";
import { sendCommand } from "../src/store/commands";
import { makeHost } from "./serverProcess";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of endings.splice(0).reverse()) await each();
});

test("reordering tabs keeps concurrent changes of the session", { timeout: 60_000 }, async () => {
  const host = await makeHost({ turn: [] });
  endings.push(host.clear, () => host.end("SIGKILL"));
  await host.start();
  const api = createApi({ fetch, base: host.base, headers: host.headers }, browserEnvironment);
  const ids: string[] = [];
  for (const title of ["one", "two", "three"]) {
    const { context_id } = await api("POST /api/contexts", { body: { title } });
    await api("POST /api/session/open-contexts", { body: { context_id } });
    ids.push(context_id);
  }
  let isDisturbed = false;
  const apiWithConflict: Api = async (route, input, options) => {
    const answer = await api(route, input, options);
    if (route === "GET /api/session" && !isDisturbed) {
      isDisturbed = true;
      await api("PUT /api/session/preferences", { body: { theme: "dark" } });
    }
    return answer;
  };
  const [one = "", two = "", three = ""] = ids;
  await sendCommand(apiWithConflict, "key", { kind: "order", ids: [three, one, two] });
  const session = await api("GET /api/session", {});
  expect(session.open_contexts?.map((tab) => tab.context_id)).toEqual([three, one, two]);
  expect(session.preferences?.theme).toBe("dark");
});
