/**
 * Approves with other arguments. What is plainly wrong is said at once. The server says what the call would be then, with
 * its diff and its warnings; exactly that is approved.
 */
import { useEffect, useId, useState } from "react";
import type { CallShape } from "../../api/schema";
import { ServerError } from "../../api/types";
import { useAsked, useDoing, useLanguage, usePage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { exactName } from "../../ui/names";
import type { Deciding } from "./Dock";
import { type Checked, checkArguments } from "./edits";
import { CallView } from "./CallView";
import { SCROLLS } from "./pageKeys";
import { PanelFrame } from "./Panel";
import { ReadTracker, forgetRead, showUnread, useReadDigests } from "./readProgress";
import { TextValue } from "./TextValue";
import { UnreadNote } from "./UnreadHint";
import { useSettled } from "./useSettled";
import { isDecidedAlready } from "./waiting";
import { WORDS } from "./words";

export function EditPanel({ dock, call }: { dock: Deciding; call: CallShape }) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const language = useLanguage();
  const doing = useDoing();
  const id = useId();
  const [{ text, digest }, setText] = useState(() => versionOf(JSON.stringify(call.arguments, null, 2)));
  const schema =
    useAsked("GET /api/tools", {}).value?.items.find((tool) => tool.name === call.tool)?.parameters ?? null;
  const checked = checkArguments(text, call.arguments, schema);
  const isSettled = useSettled(text);
  const preview = useAsked(
    "POST /api/contexts/{context_id}/tool-calls/{call_id}/preview",
    checked.is === "good" && isSettled
      ? { path: { context_id: dock.id, call_id: call.id }, body: { arguments: checked.value } }
      : null,
  );
  const edited = checked.is === "good" ? preview.value : null;
  const refusal = edited?.refusal == null ? null : say(edited.refusal, language);
  const shown = edited === null ? digest : `${digest} ${edited.call.digest}`;
  const isRead = useReadDigests().has(shown);
  useEffect(() => () => forgetRead(shown), [shown]);
  const isWrong = (checked.is !== "good" && checked.is !== "unchanged") || refusal !== null;
  const problem = checked.is === "good" ? (refusal ?? (edited === null ? t("editAsked") : null)) : wordsOf(checked, t);
  const whyNot = dock.off ?? problem ?? (isRead ? null : t("readEdit"));
  const send = async () => {
    if (whyNot !== null || checked.is !== "good" || edited === null) return;
    const decision = {
      id: call.id,
      digest: call.digest,
      verdict: "approve",
      arguments: checked.value,
      edited_digest: edited.call.digest,
    } as const;
    dock.claim([call]);
    const given = { path: { context_id: dock.id }, body: { decisions: [decision] } };
    await doing.run(() =>
      api("POST /api/contexts/{context_id}/tool-calls/decide", given).catch((error: unknown) => {
        if (!(error instanceof ServerError) || !isDecidedAlready(error.problem)) {
          preview.again(); // a file may have changed since it was shown
          throw error;
        }
        dock.report(call);
        dock.ask(null);
      }),
    );
  };
  return (
    <PanelFrame label={t("edit")} onBack={() => dock.ask(null)} onSubmit={() => void send()}>
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
          setText(versionOf(event.target.value));
          doing.forget();
        }}
      />
      <p className={isWrong ? "editor-problem small" : "soft small"} id={`${id}-problem`}>
        <ForeignText text={problem ?? t("editShown")} />
      </p>
      <section className="edit-preview" role="region" tabIndex={0} aria-label={t("editPreview")} {...SCROLLS}>
        <p className="soft small">{t("editPreview")}</p>
        <ReadTracker key={shown} digest={shown}>
          {edited !== null ? (
            <CallView call={edited.call} workspace={dock.workspace} />
          ) : checked.is === "good" || checked.is === "unchanged" ? (
            <CallView call={withArguments(call, JSON.parse(text))} workspace={dock.workspace} isPast />
          ) : (
            <TextValue text={text} label={t("editPreview")} />
          )}
        </ReadTracker>
      </section>
      <ProblemNote problem={doing.problem ?? preview.problem} />
      <div className="panel-foot">
        {problem === null ? (
          <UnreadNote unread={isRead ? [] : [shown]} why={t("readEdit")} onShow={() => showUnread([shown])} />
        ) : (
          <div className="unread-room" />
        )}
        <Button kind="quiet" onClick={() => dock.ask(null)}>
          {t("back")}
        </Button>
        <Button type="submit" aria-busy={doing.isBusy} whyNot={whyNot}>
          {doing.isBusy ? t("approving") : t("editSend")}
        </Button>
      </div>
    </PanelFrame>
  );
}

let versions = 0;

/** A text as somebody has it before them, with a name by which it is noted as read. */
function versionOf(text: string): { readonly text: string; readonly digest: string } {
  versions += 1;
  return { text, digest: `edit ${versions}` };
}

/** The call with other arguments, until the server has said what it would be. */
function withArguments(call: CallShape, given: CallShape["arguments"]): CallShape {
  return { ...call, arguments: given, preview: null, touches: null, dangerous: [] };
}

function wordsOf(checked: Exclude<Checked, { is: "good" }>, t: ReturnType<typeof useWords<typeof WORDS>>): string {
  switch (checked.is) {
    case "not_json":
      return t("not_json", { detail: checked.detail });
    case "missing":
    case "unknown":
      return t(checked.is, { name: exactName(checked.name) });
    case "type":
      return t("type", { name: exactName(checked.name), wanted: checked.wanted });
    case "unchanged":
    case "not_object":
      return t(checked.is);
  }
}
