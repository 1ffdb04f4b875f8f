/** Turns a draft into a message: creates the conversation if needed, and resolves the files that the text refers to. */
import type { Api } from "../../../api/http";
import type { NewMessage } from "../../../api/schema";
import { useAppServices } from "../../../app/appServices";
import { canSend } from "../../../store/selectors";
import { activeId } from "../../../store/state";
import { selectedMode, useMode } from "../../modes/ModeSelector";
import { resetNewContextSettings, newContextFields } from "../../models/newContextSettings";
import { type Attachment, type Draft, drafts } from "../drafts";
import { type Reference, uniqueReferences, parseReferences, payloadOf } from "./references";

export type Payload = NonNullable<NewMessage["payloads"]>[number];

const MAX_REFERENCES = 50;
const MAX_QUERY_CHARACTERS = 200;

/** The references in a text that name existing files of the workspace; all others remain plain text. */
export async function existingReferences(api: Api, context: string, text: string): Promise<readonly Reference[]> {
  const references = uniqueReferences(parseReferences(text)).slice(0, MAX_REFERENCES);
  const paths = [...new Set(references.map(({ path }) => path))];
  const exists = await Promise.all(paths.map((path) => isFile(api, context, path)));
  return references.filter(({ path }) => exists[paths.indexOf(path)]);
}

/** Whether a file exists. The search ranks an exact match among its first results. */
async function isFile(api: Api, context: string, path: string): Promise<boolean> {
  const query = { query: path.slice(-MAX_QUERY_CHARACTERS), limit: 10 };
  const { items } = await api("GET /api/contexts/{context_id}/files", { path: { context_id: context }, query });
  return items.some((item) => item.path === path && !item.is_folder);
}

export function payloadsOfDraft(
  text: string,
  references: readonly Reference[],
  files: readonly Attachment[],
): readonly Payload[] {
  return [
    ...(text.trim() === "" ? [] : [{ type: "text", content: text } as const]),
    ...references.map(payloadOf),
    ...files.map(({ kind, path }): Payload =>
      kind === "image" ? { type: "image", path } : { type: "file_reference", path },
    ),
  ];
}

let pendingContext: Promise<string> | null = null;

/** Returns the id of the conversation. A new conversation is created only once, even if several callers wait for it. */
export function useEnsureContext(id: string | null): () => Promise<string> {
  const { api, act, store } = useAppServices();
  const { selected } = useMode(id);
  const createContext = async () => {
    try {
      const mode = selected === null ? {} : { mode: selected };
      const { context_id: contextId } = await api("POST /api/contexts", { body: { ...mode, ...newContextFields() } });
      resetNewContextSettings();
      drafts.contextCreated(contextId);
      // The mode may have been changed while the conversation was being created.
      const latest = selectedMode.getSnapshot();
      if (latest !== null && latest !== selected) act({ kind: "mode", id: contextId, mode: latest, shown: [] });
      // Select the new conversation unless the user has selected another one meanwhile.
      if (activeId(store.getSnapshot()) === null) act({ kind: "activate", id: contextId });
      return contextId;
    } finally {
      pendingContext = null;
    }
  };
  return async () => id ?? (pendingContext ??= createContext());
}

/** The draft without its sent part, keeping text and attachments that were added since. */
export function remainingDraft(current: Draft, sent: Draft): Draft {
  return {
    text: current.text.startsWith(sent.text) ? current.text.slice(sent.text.length).trimStart() : current.text,
    files: current.files.filter(({ path }) => !sent.files.some((file) => file.path === path)),
  };
}

/** Sends a draft. The draft is kept until its conversation and references are ready. */
export function useSendDraft(id: string | null): (draft: Draft) => Promise<void> {
  const { api, act, store } = useAppServices();
  const ensureContext = useEnsureContext(id);
  return async ({ text, files }) => {
    const context = id ?? (await ensureContext());
    const references = parseReferences(text).length === 0 ? [] : await existingReferences(api, context, text);
    const state = store.getSnapshot();
    const queue = canSend(state, context) === "later";
    const payloads = payloadsOfDraft(text, references, files);
    act({ kind: "send", id: context, body: { payloads, queue } });
    drafts.write(context, remainingDraft(drafts.read(context), { text, files }));
  };
}
