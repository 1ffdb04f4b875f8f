/** The line of a call in the transcript: title, summary and outcome; expands to all details. */
import { useEffect, useState } from "react";
import type { CallView, ToolResult } from "../../api/schema";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon, type IconName } from "../../ui/icons";
import { CallDetails } from "./CallDetails";
import { CallSummary } from "./CallSummary";
import { outcomeOf, outcomeText } from "./callOutcome";
import { durationText, titleOf } from "./callText";
import { focusCard } from "../approvals/useDockFocus";

interface Props {
  call: CallView;
  result: ToolResult | null;
  context: string;
}

/** Ids of expanded calls, kept while their rows are unmounted. */
const openCalls = new Set<string>();

const STATUS_ICONS: Record<CallView["status"], IconName> = {
  pending: "clock",
  approved: "clock",
  executing: "gear",
  executed: "check",
  failed: "warning",
  rejected: "close",
  denied: "rule",
  cancelled: "stop",
  interrupted: "warning",
};

export function CallLine({ call, result, context }: Props) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const workspace = useSelector((state) => state.contexts[context]?.view.value?.workspace ?? null, [context]);
  const [isOpen, setOpen] = useState(openCalls.has(call.id));
  const duration = useDuration(call, result);
  const isQuestion = call.effect === "question";
  const outcome = outcomeOf(call);
  const toggle = () => {
    if (isOpen) openCalls.delete(call.id);
    else openCalls.add(call.id);
    setOpen(!isOpen);
  };
  return (
    <li className={`call is-${outcome}`} data-call-line={call.id}>
      <div className="call-head">
        <button type="button" className="call-line" aria-expanded={isOpen} onClick={toggle}>
          <span className="call-icon">
            <Icon name={STATUS_ICONS[outcome]} size={16} />
          </span>
          <span className="call-title">
            <ForeignText text={titleOf(call, language)} />
          </span>
          <CallSummary call={call} workspace={workspace} extraClass="call-summary" />
          {call.edited === true && (
            <span className="call-mark" title={t("editedMeans")}>
              {t("edited")}
            </span>
          )}
          {call.confined === true && (
            <span className="call-mark" title={t("confinedMeans")}>
              {t("confined")}
            </span>
          )}
          <span className="call-status">
            {outcomeText(call, language)}
            {duration !== "" && <span className="call-duration"> · {duration}</span>}
          </span>
          <span className="row-chevron">
            <Icon name="chevron" size={16} />
          </span>
        </button>
        {call.status === "pending" && !isQuestion && (
          <Button kind="small" onClick={() => focusCard(call.id)}>
            {t("toDecision")}
          </Button>
        )}
      </div>
      {isOpen && <CallDetails call={call} result={result} context={context} workspace={workspace} />}
    </li>
  );
}

const MIN_DURATION_MS = 100;

/** How long the call ran, or has been running. */
function useDuration(call: CallView, result: ToolResult | null): string {
  const language = useLanguage();
  const { environment } = useAppServices();
  const isRunning = call.status === "executing";
  const [now, setNow] = useState(environment.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(environment.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning, environment]);
  if (call.started_at == null) return "";
  const started = new Date(call.started_at).getTime();
  const ended = call.finished_at == null ? null : new Date(call.finished_at).getTime();
  if (isRunning)
    return now - started < 1_000
      ? ""
      : durationText(Math.floor((now - started) / 1_000) * 1_000, language).replace(".0", "");
  const elapsedMs = result?.duration_ms ?? (ended === null ? 0 : ended - started);
  return elapsedMs < MIN_DURATION_MS ? "" : durationText(elapsedMs, language);
}
