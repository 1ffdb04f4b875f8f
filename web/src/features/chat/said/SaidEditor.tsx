/** A message said otherwise: on a new branch, so that nothing of the old one is lost. */
import type { Message } from "../../../api/types";
import { usePage, useSlice } from "../../../app/page";
import { useWords } from "../../../i18n/words";
import { whyNotNow } from "../../../store/selectors";
import { namedFiles } from "../composer/sending";
import type { Editing } from "../editing";
import { attachedTo, editedPayloads } from "./payloads";
import { Rewrite } from "./Rewrite";
import { WORDS } from "./words";

export function SaidEditor({ messages, now }: { messages: readonly Message[]; now: Editing }) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const whyNot = useSlice((state) => whyNotNow(state, now.context), [now.context]);
  const save = async (text: string) => {
    const payloads = editedPayloads(messages, text, await namedFiles(api, now.context, text));
    const path = { context_id: now.context, message_id: now.id };
    await api("POST /api/contexts/{context_id}/messages/{message_id}/edit", {
      path,
      body: { ...attachedTo(messages), payloads },
    });
  };
  return (
    <Rewrite
      now={now}
      label={t("editing")}
      done={t("resend")}
      note={t("keeps")}
      hasFiles={messages.some((message) => message.type !== "text")}
      whyNot={whyNot === null ? null : t(whyNot)}
      save={save}
    />
  );
}
