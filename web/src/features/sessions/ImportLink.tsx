/** Takes over a conversation that was exported to a file, here or elsewhere. */
import { useRef } from "react";
import { ServerError } from "../../api/types";
import { useDoing, useLanguage, usePage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { notify } from "../../ui/Notices";
import { ProblemNote } from "../../ui/ProblemNote";

const WORDS = {
  import: ["Import a conversation…", "导入对话……"],
  importing: ["Importing…", "正在导入……"],
} as const;

export function ImportLink() {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { api, act, ambient } = usePage();
  const doing = useDoing();
  const input = useRef<HTMLInputElement>(null);
  const take = (file: File) =>
    doing.run(async () => {
      const body = await file.text();
      const found = await api("POST /api/contexts/import", { body }).catch((error: unknown) => {
        if (!(error instanceof ServerError) || error.problem.code !== "context_exists") throw error;
        return api("POST /api/contexts/import", { body, query: { context_id: ambient.newId() } }); // a copy beside it
      });
      for (const reason of found.left_out ?? []) notify(say(reason, language));
      act({ kind: "activate", id: found.context_id });
    });
  return (
    <>
      <button type="button" className="link" disabled={doing.isBusy} onClick={() => input.current?.click()}>
        {t(doing.isBusy ? "importing" : "import")}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".jsonl,.json,application/x-ndjson"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = ""; // the same file may be chosen again
          if (file !== undefined) void take(file);
        }}
      />
      <ProblemNote problem={doing.problem} />
    </>
  );
}
