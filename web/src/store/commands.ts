/** What a person can ask for, as data, and the request that each becomes. */
import type { Api } from "../api/http";
import { ServerError } from "../api/types";
import { inOrder } from "./order";
import type {
  AnswersBody,
  Decide,
  ModeSwitch,
  NewMessage,
  PreferencesChange,
  SentShape,
  Session,
  UIStateChange,
} from "../api/schema";

export type Command =
  | { readonly kind: "send"; readonly id: string; readonly body: NewMessage }
  | { readonly kind: "decide"; readonly id: string; readonly body: Decide }
  | { readonly kind: "answer"; readonly id: string; readonly body: AnswersBody }
  | { readonly kind: "mode"; readonly id: string; readonly mode: string; readonly shown: readonly string[] }
  | { readonly kind: "steer"; readonly id: string; readonly how: "cancel" | "pause" | "resume" | "continue" | "retry" }
  | { readonly kind: "activate"; readonly id: string | null }
  | { readonly kind: "close"; readonly id: string }
  /** The tabs in this order. */
  | { readonly kind: "order"; readonly ids: readonly string[] }
  | { readonly kind: "preferences"; readonly body: PreferencesChange }
  | { readonly kind: "uiState"; readonly body: UIStateChange };

export type Answer =
  | { readonly kind: "sent"; readonly sent: SentShape }
  | { readonly kind: "session"; readonly session: Session }
  | { readonly kind: "switched"; readonly outcome: ModeSwitch }
  | { readonly kind: "done" };

const DONE: Answer = { kind: "done" };

const SESSION = { isRepeatable: true, lane: "session" };

/**
 * Carries a command out. Messages have a key, and settings may be set twice: both are tried again until there is an
 * answer, in the order of the commands, so that no older one replaces a newer one. The others are not repeated; what
 * became of them is pulled.
 */
export async function carryOut(api: Api, key: string, command: Command): Promise<Answer> {
  switch (command.kind) {
    case "send": {
      const given = { path: { context_id: command.id }, body: command.body };
      const options = { key, isToldUnsaved: true, lane: `messages ${command.id}` };
      return { kind: "sent", sent: await api("POST /api/contexts/{context_id}/messages", given, options) };
    }
    case "decide":
      await api("POST /api/contexts/{context_id}/tool-calls/decide", {
        path: { context_id: command.id },
        body: command.body,
      });
      return DONE;
    case "answer":
      await api("POST /api/contexts/{context_id}/answers", { path: { context_id: command.id }, body: command.body });
      return DONE;
    case "mode": {
      const given = { path: { context_id: command.id }, body: { mode: command.mode, shown: command.shown } };
      const options = { isRepeatable: true, isToldUnsaved: true, lane: `mode ${command.id}` };
      return { kind: "switched", outcome: await api("PUT /api/contexts/{context_id}/mode", given, options) };
    }
    case "steer":
      await api(`POST /api/contexts/{context_id}/${command.how}`, { path: { context_id: command.id } });
      return DONE;
    case "activate":
      return session(await api("PUT /api/session/active-context", { body: { context_id: command.id } }, SESSION));
    case "order":
      return session(
        await reorder(api, command.ids).catch((error: unknown) => {
          if (error instanceof ServerError && error.problem.code === "stale_session") return reorder(api, command.ids);
          throw error;
        }),
      );
    case "close":
      return session(
        await api("DELETE /api/session/open-contexts/{tab_id}", { path: { tab_id: command.id } }, SESSION),
      );
    case "preferences":
      return session(await api("PUT /api/session/preferences", { body: command.body }, SESSION));
    case "uiState":
      return session(await api("PUT /api/session/ui-state", { body: command.body }, SESSION));
  }
}

function session(found: Session): Answer {
  return { kind: "session", session: found };
}

/** Made from the present session, so that nothing else of it is undone. The server goes by the numbers. */
async function reorder(api: Api, ids: readonly string[]): Promise<Session> {
  const { version = 0, ...present } = await api("GET /api/session", {}, SESSION);
  const tabs = inOrder(present.open_contexts ?? [], ids, (tab) => tab.context_id);
  const numbered = tabs.map((tab, order) => ({ ...tab, order }));
  return api("PUT /api/session", { body: { ...present, version, open_contexts: numbered } }, { lane: "session" });
}
