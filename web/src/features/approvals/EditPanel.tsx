/**
 * Approves a call with edited arguments. Obvious mistakes are reported while typing. The server previews the edited
 * call with its diff and warnings; exactly that preview is approved.
 */
import { useEffect, useId, useState } from "react";
import type { CallView } from "../../api/schema";
import { ServerError } from "../../api/types";
import { useQuery, useAction, useLanguage, useAppServices } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { type Texts, useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { exactName } from "../../ui/safeText";
import type { DockControls } from "./ApprovalDock";
import { type ArgumentValidation, validateArguments } from "./argumentValidation";
import { CallPanel } from "../tool-calls/CallPanel";
import { SCROLL_TARGET } from "./scrollKeys";
import { PanelFrame } from "./DecisionPanel";
import { ReadTracker, forgetDigest, revealUnread, useReadDigests } from "../read-progress/readProgress";
import { TextValue } from "../tool-calls/TextValue";
import { UnreadNote } from "../read-progress/UnreadHint";
import { useIsStable } from "./useIsStable";
import { isAlreadyDecided } from "./pendingCalls";

export function EditPanel({ dock, call }: { dock: DockControls; call: CallView }) {
  const t = useTexts("approvals");
  const { api } = useAppServices();
  const language = useLanguage();
  const action = useAction();
  const id = useId();
  const [{ text, digest }, setText] = useState(() => numberedVersion(JSON.stringify(call.arguments, null, 2)));
  const schema =
    useQuery("GET /api/tools", {}).value?.items.find((tool) => tool.name === call.tool)?.parameters ?? null;
  const validation = validateArguments(text, call.arguments, schema);
  const isSettled = useIsStable(text);
  const preview = useQuery(
    "POST /api/contexts/{context_id}/tool-calls/{call_id}/preview",
    validation.kind === "valid" && isSettled
      ? { path: { context_id: dock.id, call_id: call.id }, body: { arguments: validation.value } }
      : null,
  );
  const edited = validation.kind === "valid" ? preview.value : null;
  const refusal = edited?.refusal == null ? null : translateReason(edited.refusal, language);
  const readDigest = edited === null ? digest : `${digest} ${edited.call.digest}`;
  const isRead = useReadDigests().has(readDigest);
  useEffect(() => () => forgetDigest(readDigest), [readDigest]);
  const isWrong = (validation.kind !== "valid" && validation.kind !== "unchanged") || refusal !== null;
  const problem =
    validation.kind === "valid" ? (refusal ?? (edited === null ? t("editAsked") : null)) : problemText(validation, t);
  const disabledReason = dock.disabledReason ?? problem ?? (isRead ? null : t("readEdit"));
  const send = async () => {
    if (disabledReason !== null || validation.kind !== "valid" || edited === null) return;
    const decision = {
      id: call.id,
      digest: call.digest,
      verdict: "approve",
      arguments: validation.value,
      edited_digest: edited.call.digest,
    } as const;
    dock.claim([call]);
    const input = { path: { context_id: dock.id }, body: { decisions: [decision] } };
    await action.run(() =>
      api("POST /api/contexts/{context_id}/tool-calls/decide", input).catch((error: unknown) => {
        if (!(error instanceof ServerError) || !isAlreadyDecided(error.problem)) {
          preview.refetch(); // a file may have changed since the preview
          throw error;
        }
        dock.report(call);
        dock.openPanel(null);
      }),
    );
  };
  return (
    <PanelFrame label={t("edit")} onBack={() => dock.openPanel(null)} onSubmit={() => void send()}>
      <label className="panel-label" htmlFor={id}>
        {t("editLabel")}
      </label>
      <textarea
        id={id}
        className="field editor"
        autoFocus
        spellCheck={false}
        value={text}
        aria-invalid={isWrong}
        aria-describedby={`${id}-problem`}
        onChange={(event) => {
          setText(numberedVersion(event.target.value));
          action.clearProblem();
        }}
      />
      <p className={isWrong ? "editor-problem small" : "soft small"} id={`${id}-problem`}>
        <ForeignText text={problem ?? t("editShown")} />
      </p>
      <section className="edit-preview" role="region" tabIndex={0} aria-label={t("editPreview")} {...SCROLL_TARGET}>
        <p className="soft small">{t("editPreview")}</p>
        <ReadTracker key={readDigest} digest={readDigest}>
          {edited !== null ? (
            <CallPanel call={edited.call} workspace={dock.workspace} />
          ) : validation.kind === "valid" || validation.kind === "unchanged" ? (
            <CallPanel call={withArguments(call, JSON.parse(text))} workspace={dock.workspace} isDecided />
          ) : (
            <TextValue text={text} label={t("editPreview")} />
          )}
        </ReadTracker>
      </section>
      <ProblemNote problem={action.problem ?? preview.problem} />
      <div className="panel-foot">
        {problem === null ? (
          <UnreadNote
            unread={isRead ? [] : [readDigest]}
            reason={t("readEdit")}
            onShow={() => revealUnread([readDigest])}
          />
        ) : (
          <div className="unread-room" />
        )}
        <Button kind="quiet" onClick={() => dock.openPanel(null)}>
          {t("back")}
        </Button>
        <Button type="submit" aria-busy={action.isBusy} disabledReason={disabledReason}>
          {action.isBusy ? t("approving") : t("editSend")}
        </Button>
      </div>
    </PanelFrame>
  );
}

let versionCount = 0;

/** A version of the edited text, with an id under which it is recorded as read. */
function numberedVersion(text: string): { readonly text: string; readonly digest: string } {
  versionCount += 1;
  return { text, digest: `edit ${versionCount}` };
}

/** The call with edited arguments, until the server has returned its preview. */
function withArguments(call: CallView, args: CallView["arguments"]): CallView {
  return {
    ...call,
    arguments: args,
    preview: null,
    preview_kind: "text",
    shown_arguments: [],
    touches: null,
    dangerous: [],
  };
}

function problemText(validation: Exclude<ArgumentValidation, { kind: "valid" }>, t: Texts<"approvals">): string {
  switch (validation.kind) {
    case "not_json":
      return t("not_json", { detail: validation.detail });
    case "missing":
    case "unknown":
      return t(validation.kind, { name: exactName(validation.name) });
    case "type":
      return t("type", { name: exactName(validation.name), wanted: validation.expected });
    case "unchanged":
    case "not_object":
      return t(validation.kind);
  }
}
