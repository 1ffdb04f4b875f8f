/** Edits a sent message on a new branch; the old branch is kept. */
import type { Message } from "../../../api/types";
import { useAppServices, useSelector } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { editBlockedReason } from "../../../store/selectors";
import { existingReferences } from "../composer/draftSubmission";
import type { MessageEdit } from "../messageEdit";
import { carriedOver, editedPayloads } from "./payloads";
import { MessageEditor } from "./MessageEditor";

export function UserMessageEditor({ messages, edit }: { messages: readonly Message[]; edit: MessageEdit }) {
  const t = useTexts("userMessage");
  const { api } = useAppServices();
  const disabledReason = useSelector((state) => editBlockedReason(state, edit.context), [edit.context]);
  const save = async (text: string) => {
    const payloads = editedPayloads(messages, text, await existingReferences(api, edit.context, text));
    const path = { context_id: edit.context, message_id: edit.id };
    await api("POST /api/contexts/{context_id}/messages/{message_id}/edit", {
      path,
      body: { ...carriedOver(messages), payloads },
    });
  };
  return (
    <MessageEditor
      edit={edit}
      label={t("editing")}
      submitLabel={t("resend")}
      note={t("keeps")}
      hasFiles={messages.some((message) => message.type !== "text")}
      disabledReason={disabledReason === null ? null : t(disabledReason)}
      save={save}
    />
  );
}
