/** From a draft to a message: the conversation that it needs, and the files that its text names. */
import type { Api } from "../../../api/http";
import type { NewMessage } from "../../../api/schema";
import { usePage } from "../../../app/page";
import { canSend } from "../../../store/selectors";
import { activeId } from "../../../store/state";
import { chosenMode, useMode } from "../../modes/ModeSelector";
import { forgetChosen, newContext } from "../../sessions/chosen";
import { type Attached, type Draft, drafts } from "../drafts";
import { type Reference, distinct, parse, payloadOf } from "./references";

export type Payload = NonNullable<NewMessage["payloads"]>[number];

const REFERENCES_AT_MOST = 50;
const ASKED_AT_MOST = 200;

/** The files of the workspace that a text names. What is not there stays what it is: text. */
export async function namedFiles(api: Api, context: string, text: string): Promise<readonly Reference[]> {
  const found = distinct(parse(text)).slice(0, REFERENCES_AT_MOST);
  const paths = [...new Set(found.map(({ path }) => path))];
  const known = await Promise.all(paths.map((path) => isFile(api, context, path)));
  return found.filter(({ path }) => known[paths.indexOf(path)]);
}

/** One that fits exactly is among the first that are found. */
async function isFile(api: Api, context: string, path: string): Promise<boolean> {
  const query = { query: path.slice(-ASKED_AT_MOST), limit: 10 };
  const { items } = await api("GET /api/contexts/{context_id}/files", { path: { context_id: context }, query });
  return items.some((item) => item.path === path && !item.is_folder);
}

export function payloadsOfDraft(
  text: string,
  references: readonly Reference[],
  files: readonly Attached[],
): readonly Payload[] {
  return [
    ...(text.trim() === "" ? [] : [{ type: "text", content: text } as const]),
    ...references.map(payloadOf),
    ...files.map(({ kind, path }): Payload =>
      kind === "image" ? { type: "image", path } : { type: "file_reference", path },
    ),
  ];
}

let beginning: Promise<string> | null = null;

/** The conversation that is written in. One that has not begun is made, once however many ask for it. */
export function useEnsureContext(id: string | null): () => Promise<string> {
  const { api, act, store } = usePage();
  const { chosen } = useMode(id);
  const begin = async () => {
    try {
      const mode = chosen === null ? {} : { mode: chosen };
      const { context_id: made } = await api("POST /api/contexts", { body: { ...mode, ...newContext() } });
      forgetChosen();
      drafts.begun(made);
      // A mode that was chosen while the conversation was made counts for what is said in it.
      const latest = chosenMode.getSnapshot();
      if (latest !== null && latest !== chosen) act({ kind: "mode", id: made, mode: latest, shown: [] });
      // Whoever has gone to another conversation meanwhile stays there.
      if (activeId(store.getSnapshot()) === null) act({ kind: "activate", id: made });
      return made;
    } finally {
      beginning = null;
    }
  };
  return async () => id ?? (beginning ??= begin());
}

/** What is left of a draft after a part of it was sent: what the person has written and attached meanwhile. */
export function unsentOf(now: Draft, sent: Draft): Draft {
  return {
    text: now.text.startsWith(sent.text) ? now.text.slice(sent.text.length).trimStart() : now.text,
    files: now.files.filter(({ path }) => !sent.files.some((file) => file.path === path)),
  };
}

/** Sends a draft. Until everything is there that it needs, it stays a draft. */
export function useSendDraft(id: string | null): (draft: Draft) => Promise<void> {
  const { api, act, store } = usePage();
  const ensure = useEnsureContext(id);
  return async ({ text, files }) => {
    const context = id ?? (await ensure());
    const references = parse(text).length === 0 ? [] : await namedFiles(api, context, text);
    const state = store.getSnapshot();
    const queue = canSend(state, context) === "later";
    const payloads = payloadsOfDraft(text, references, files);
    act({ kind: "send", id: context, body: { payloads, queue } });
    drafts.write(context, unsentOf(drafts.read(context), { text, files }));
  };
}
