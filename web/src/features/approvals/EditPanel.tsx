/** Approves with other arguments. What is plainly wrong is said at once; the server has the last word, said here too. */
import { useId, useState } from "react";
import type { CallShape } from "../../api/schema";
import { ServerError } from "../../api/types";
import { useAsked, useDoing, usePage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { visibleText } from "../../ui/names";
import type { Deciding } from "./Dock";
import { type Checked, checkArguments } from "./edits";
import { PanelFrame } from "./Panel";
import { isDecidedAlready } from "./waiting";
import { WORDS } from "./words";

export function EditPanel({ dock, call }: { dock: Deciding; call: CallShape }) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const doing = useDoing();
  const id = useId();
  const [text, setText] = useState(() => JSON.stringify(call.arguments, null, 2));
  const schema =
    useAsked("GET /api/tools", {}).value?.items.find((tool) => tool.name === call.tool)?.parameters ?? null;
  const checked = checkArguments(text, call.arguments, schema);
  const whyNot = dock.off ?? dock.whyUnread([call]) ?? (checked.is === "good" ? null : wordsOf(checked, t));
  const send = async () => {
    if (whyNot !== null || checked.is !== "good") return;
    const decision = { id: call.id, digest: call.digest, verdict: "approve", arguments: checked.value } as const;
    dock.claim([call]);
    const given = { path: { context_id: dock.id }, body: { decisions: [decision] } };
    await doing.run(() =>
      api("POST /api/contexts/{context_id}/tool-calls/decide", given).catch((error: unknown) => {
        if (!(error instanceof ServerError) || !isDecidedAlready(error.problem)) throw error;
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
        aria-invalid={checked.is !== "good" && checked.is !== "unchanged"}
        aria-describedby={`${id}-problem`}
        onChange={(event) => {
          setText(event.target.value);
          doing.forget();
        }}
      />
      <p className={checked.is === "unchanged" ? "soft small" : "editor-problem small"} id={`${id}-problem`}>
        {checked.is === "good" ? "" : wordsOf(checked, t)}
      </p>
      <ProblemNote problem={doing.problem} />
      <div className="panel-foot">
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

function wordsOf(checked: Exclude<Checked, { is: "good" }>, t: ReturnType<typeof useWords<typeof WORDS>>): string {
  switch (checked.is) {
    case "not_json":
      return t("not_json", { detail: visibleText(checked.detail) });
    case "missing":
    case "unknown":
      return t(checked.is, { name: visibleText(checked.name) });
    case "type":
      return t("type", { name: visibleText(checked.name), wanted: checked.wanted });
    case "unchanged":
    case "not_object":
      return t(checked.is);
  }
}
