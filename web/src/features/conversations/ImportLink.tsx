/** Imports a conversation from an exported file. */
import { useRef } from "react";
import { ServerError } from "../../api/types";
import { useAction, useLanguage, useAppServices } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { notify } from "../../ui/Notices";
import { ProblemNote } from "../../ui/ProblemNote";

export function ImportLink() {
  const t = useTexts("importing");
  const language = useLanguage();
  const { api, act, environment } = useAppServices();
  const action = useAction();
  const input = useRef<HTMLInputElement>(null);
  const importFile = (file: File) =>
    action.run(async () => {
      const body = await file.text();
      const imported = await api("POST /api/contexts/import", { body }).catch((error: unknown) => {
        if (!(error instanceof ServerError) || error.problem.code !== "context_exists") throw error;
        // The conversation exists: import a copy.
        return api("POST /api/contexts/import", { body, query: { context_id: environment.newId() } });
      });
      for (const reason of imported.left_out ?? []) notify(translateReason(reason, language));
      act({ kind: "activate", id: imported.context_id });
    });
  return (
    <>
      <button type="button" className="link" disabled={action.isBusy} onClick={() => input.current?.click()}>
        {t(action.isBusy ? "importing" : "import")}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".jsonl,.json,application/x-ndjson"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = ""; // lets the user select the same file again
          if (file !== undefined) void importFile(file);
        }}
      />
      <ProblemNote problem={action.problem} />
    </>
  );
}
