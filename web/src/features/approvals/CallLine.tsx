/** One call in the conversation: a line that says what it was and what became of it, and opens to all of it. */
import { useEffect, useState } from "react";
import type { CallShape, ToolResult } from "../../api/schema";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon, type IconName } from "../../ui/icons";
import { CallDetails } from "./CallDetails";
import { Essence } from "./Essence";
import { outcomeOf, outcomeWords } from "./outcome";
import { durationWords, titleOf } from "./tools";
import { focusCard } from "./useDockFocus";
import { WORDS } from "./words";

interface Given {
  call: CallShape;
  result: ToolResult | null;
  context: string;
}

/** Which lines are open. A line that scrolls out of sight is taken down and built anew: it must find this again. */
const OPEN = new Set<string>();

const SIGNS: Record<CallShape["status"], IconName> = {
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

export function CallLine({ call, result, context }: Given) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const workspace = useSlice((state) => state.contexts[context]?.shape.value?.workspace ?? null, [context]);
  const [isOpen, setOpen] = useState(OPEN.has(call.id));
  const duration = useDuration(call, result);
  const isQuestion = call.effect === "question";
  const outcome = outcomeOf(call);
  const toggle = () => {
    if (isOpen) OPEN.delete(call.id);
    else OPEN.add(call.id);
    setOpen(!isOpen);
  };
  return (
    <li className={`call is-${outcome}`} data-call-line={call.id}>
      <div className="call-head">
        <button type="button" className="call-line" aria-expanded={isOpen} onClick={toggle}>
          <span className="call-sign">
            <Icon name={SIGNS[outcome]} size={16} />
          </span>
          <span className="call-title">
            <ForeignText text={titleOf(call, language)} />
          </span>
          <Essence call={call} workspace={workspace} extraClass="call-essence" />
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
            {outcomeWords(call, language)}
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

const SHOWN_FROM = 100;

/** How long it took, or takes. */
function useDuration(call: CallShape, result: ToolResult | null): string {
  const language = useLanguage();
  const { ambient } = usePage();
  const isRunning = call.status === "executing";
  const [now, setNow] = useState(ambient.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(ambient.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning, ambient]);
  if (call.started_at == null) return "";
  const started = new Date(call.started_at).getTime();
  const ended = call.finished_at == null ? null : new Date(call.finished_at).getTime();
  if (isRunning)
    return now - started < 1_000
      ? ""
      : durationWords(Math.floor((now - started) / 1_000) * 1_000, language).replace(".0", "");
  const took = result?.duration_ms ?? (ended === null ? 0 : ended - started);
  return took < SHOWN_FROM ? "" : durationWords(took, language);
}
