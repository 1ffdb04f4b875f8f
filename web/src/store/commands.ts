/** User commands as data, and the request that each of them sends. */
import type { Api } from "../api/http";
import { ServerError } from "../api/types";
import { sortByIds } from "./tabOrder";
import type {
  AnswersBody,
  Decide,
  ModeSwitch,
  NewMessage,
  PreferencesChange,
  SentView,
  Session,
  UIStateChange,
} from "../api/schema";

export type Command =
  | { readonly kind: "send"; readonly id: string; readonly body: NewMessage }
  | { readonly kind: "decide"; readonly id: string; readonly body: Decide }
  | { readonly kind: "answer"; readonly id: string; readonly body: AnswersBody }
  | { readonly kind: "mode"; readonly id: string; readonly mode: string; readonly shown: readonly string[] }
  | {
      readonly kind: "control";
      readonly id: string;
      readonly action: "cancel" | "pause" | "resume" | "continue" | "retry";
    }
  | { readonly kind: "activate"; readonly id: string | null }
  | { readonly kind: "close"; readonly id: string }
  /** Reorders the tabs. */
  | { readonly kind: "order"; readonly ids: readonly string[] }
  | { readonly kind: "preferences"; readonly body: PreferencesChange }
  | { readonly kind: "uiState"; readonly body: UIStateChange };

export type Answer =
  | { readonly kind: "sent"; readonly sent: SentView }
  | { readonly kind: "session"; readonly session: Session }
  | { readonly kind: "switched"; readonly outcome: ModeSwitch }
  | { readonly kind: "done" };

const DONE: Answer = { kind: "done" };

const SESSION = { isRepeatable: true, lane: "session" };

/**
 * Sends the request of a command. Messages carry an idempotency key and settings are idempotent: both are retried until
 * the server answers, in the order of the commands, so that no older value replaces a newer one. Other commands are
 * sent once; their effect appears when the context is fetched again.
 */
export async function sendCommand(api: Api, key: string, command: Command): Promise<Answer> {
  switch (command.kind) {
    case "send": {
      const input = { path: { context_id: command.id }, body: command.body };
      const options = { key, failsWhenUnsaved: true, lane: `messages ${command.id}` };
      return { kind: "sent", sent: await api("POST /api/contexts/{context_id}/messages", input, options) };
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
      const input = { path: { context_id: command.id }, body: { mode: command.mode, shown: command.shown } };
      const options = { isRepeatable: true, failsWhenUnsaved: true, lane: `mode ${command.id}` };
      return { kind: "switched", outcome: await api("PUT /api/contexts/{context_id}/mode", input, options) };
    }
    case "control":
      await api(`POST /api/contexts/{context_id}/${command.action}`, { path: { context_id: command.id } });
      return DONE;
    case "activate":
      return sessionAnswer(await api("PUT /api/session/active-context", { body: { context_id: command.id } }, SESSION));
    case "order":
      return sessionAnswer(
        await reorder(api, command.ids).catch((error: unknown) => {
          if (error instanceof ServerError && error.problem.code === "stale_session") return reorder(api, command.ids);
          throw error;
        }),
      );
    case "close":
      return sessionAnswer(
        await api("DELETE /api/session/open-contexts/{tab_id}", { path: { tab_id: command.id } }, SESSION),
      );
    case "preferences":
      return sessionAnswer(await api("PUT /api/session/preferences", { body: command.body }, SESSION));
    case "uiState":
      return sessionAnswer(await api("PUT /api/session/ui-state", { body: command.body }, SESSION));
  }
}

function sessionAnswer(session: Session): Answer {
  return { kind: "session", session };
}

/** Writes the tab order into the server's current session, so that concurrent changes of the session are kept. */
async function reorder(api: Api, ids: readonly string[]): Promise<Session> {
  const { version = 0, ...session } = await api("GET /api/session", {}, SESSION);
  const tabs = sortByIds(session.open_contexts ?? [], ids, (tab) => tab.context_id);
  const numbered = tabs.map((tab, order) => ({ ...tab, order }));
  return api("PUT /api/session", { body: { ...session, version, open_contexts: numbered } }, { lane: "session" });
}
