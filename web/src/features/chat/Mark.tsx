/** What happened beside the talk: switches of the mode, merges, summaries, things added for the model. */
import type { Processing } from "../../api/schema";
import type { Message } from "../../api/types";
import { useLanguage } from "../../app/page";
import { isCode, say, type Language } from "../../i18n/say";
import { useWords, type Say } from "../../i18n/words";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName, visibleText } from "../../ui/names";
import { timeOf } from "../../ui/times";
import { useModeTitle } from "../modes/useModes";
import { WORDS } from "./words";

export function Mark({ message }: { message: Message }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const modeTitle = useModeTitle();
  const text = contentOf(message);
  const line = (
    <>
      <ForeignText text={wordsOf(message, t, modeTitle, language)} /> ·{" "}
      <time dateTime={message.timestamp}>{timeOf(message.timestamp, language)}</time>
    </>
  );
  if (text === "") return <p className="mark mark-line">{line}</p>;
  return (
    <details className="mark">
      <summary className="mark-line">{line}</summary>
      <pre tabIndex={0} aria-label={t("details")}>
        {visibleText(text)}
      </pre>
    </details>
  );
}

function wordsOf(
  message: Message,
  t: Say<typeof WORDS>,
  modeTitle: (name: string) => string,
  language: Language,
): string {
  switch (message.type) {
    case "system_control": {
      const detail = message.detail ?? {};
      const named = (name: string) => visibleName(String(detail[name] ?? ""));
      if (message.kind === "mode_switch") {
        const from = named("from");
        return from === ""
          ? t("modeSet", { to: modeTitle(named("to")) })
          : t("modeSwitch", { from: modeTitle(from), to: modeTitle(named("to")) });
      }
      if (message.kind === "branch_merge") return t("merged", { source: named("source") });
      if (message.kind === "summary") return t("summary");
      if (message.kind === "prompt_change") return t("promptChange");
      if (detail.about === "undo") return t("undone", { paths: undonePaths(detail).map(visibleName).join(", ") });
      return detail.about === "workspace_overview" ? t("overview") : t("injection", { label: named("label") });
    }
    case "project_structure":
      return t("overview");
    case "mcp_resource":
      return t("resource", { uri: visibleName(message.uri), server: visibleName(message.server) });
    case "workflow_execution":
      return t("workflow", { workflow: visibleName(message.workflow) });
    case "processing":
      return remarkOf(message, language) ?? t("processing", { stage: visibleName(message.stage) });
    case "tool_result":
      return t("result", { tool: visibleName(message.tool) });
    default:
      return message.type;
  }
}

/** The files that an undo has put back, and how many more there are than the message names. */
function undonePaths({ paths, count }: Record<string, unknown>): string[] {
  const named = Array.isArray(paths) ? paths.map(String) : [];
  const more = Number(count ?? 0) - named.length;
  return more > 0 ? [...named, `+${more}`] : named;
}

/** A remark of the runtime, such as that a message was sent shortened. */
function remarkOf(message: Processing, language: Language): string | null {
  if (!isCode(message.stage)) return null;
  const params = message.detail?.params;
  const isRecord = typeof params === "object" && params !== null;
  return say({ code: message.stage, params: isRecord ? (params as Record<string, unknown>) : {} }, language);
}

function contentOf(message: Message): string {
  if (message.type === "system_control") return message.kind === "mode_switch" ? "" : (message.content ?? "");
  if (message.type === "project_structure" || message.type === "mcp_resource" || message.type === "tool_result")
    return message.content;
  if (message.type === "workflow_execution") return message.result ?? "";
  return "";
}
