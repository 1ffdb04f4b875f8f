/** System messages in the transcript: mode switches, merges, summaries, content added for the model. */
import type { Processing } from "../../api/schema";
import type { Message } from "../../api/types";
import { useLanguage } from "../../app/appServices";
import { isCode, translateReason, type Language } from "../../i18n/serverTexts";
import { type Texts, useTexts } from "../../i18n/texts";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName, visibleText } from "../../ui/safeText";
import { timeOf } from "../../ui/timeFormat";
import { useModeTitle } from "../modes/useModes";

export function SystemNotice({ message }: { message: Message }) {
  const t = useTexts("chat");
  const language = useLanguage();
  const modeTitle = useModeTitle();
  const text = contentOf(message);
  const summary = (
    <>
      <ForeignText text={noticeText(message, t, modeTitle, language)} /> ·{" "}
      <time dateTime={message.timestamp}>{timeOf(message.timestamp, language)}</time>
    </>
  );
  if (text === "") return <p className="system-notice system-notice-line">{summary}</p>;
  return (
    <details className="system-notice">
      <summary className="system-notice-line">{summary}</summary>
      <pre tabIndex={0} aria-label={t("details")}>
        {visibleText(text)}
      </pre>
    </details>
  );
}

function noticeText(
  message: Message,
  t: Texts<"chat">,
  modeTitle: (name: string) => string,
  language: Language,
): string {
  switch (message.type) {
    case "system_control": {
      const detail = message.detail ?? {};
      const detailName = (name: string) => visibleName(String(detail[name] ?? ""));
      if (message.kind === "mode_switch") {
        const from = detailName("from");
        return from === ""
          ? t("modeSet", { to: modeTitle(detailName("to")) })
          : t("modeSwitch", { from: modeTitle(from), to: modeTitle(detailName("to")) });
      }
      if (message.kind === "branch_merge") return t("merged", { source: detailName("source") });
      if (message.kind === "summary") return t("summary");
      if (message.kind === "prompt_change") return t("promptChange");
      if (detail.about === "undo") return t("undone", { paths: undonePaths(detail).map(visibleName).join(", ") });
      return detail.about === "workspace_overview" ? t("overview") : t("injection", { label: detailName("label") });
    }
    case "project_structure":
      return t("overview");
    case "mcp_resource":
      return t("resource", { uri: visibleName(message.uri), server: visibleName(message.server) });
    case "workflow_execution":
      return t("workflow", { workflow: visibleName(message.workflow) });
    case "processing":
      return runtimeRemark(message, language) ?? t("processing", { stage: visibleName(message.stage) });
    case "tool_result":
      return t("result", { tool: visibleName(message.tool) });
    default:
      return message.type;
  }
}

/** The files that an undo has restored, and the number of further files that the message does not list. */
function undonePaths({ paths, count }: Record<string, unknown>): string[] {
  const shownPaths = Array.isArray(paths) ? paths.map(String) : [];
  const more = Number(count ?? 0) - shownPaths.length;
  return more > 0 ? [...shownPaths, `+${more}`] : shownPaths;
}

/** A note of the runtime, for example that a message was sent shortened. */
function runtimeRemark(message: Processing, language: Language): string | null {
  if (!isCode(message.stage)) return null;
  const params = message.detail?.params;
  const isRecord = typeof params === "object" && params !== null;
  return translateReason(
    { code: message.stage, params: isRecord ? (params as Record<string, unknown>) : {} },
    language,
  );
}

function contentOf(message: Message): string {
  if (message.type === "system_control") return message.kind === "mode_switch" ? "" : (message.content ?? "");
  if (message.type === "project_structure" || message.type === "mcp_resource" || message.type === "tool_result")
    return message.content;
  if (message.type === "workflow_execution") return message.result ?? "";
  return "";
}
