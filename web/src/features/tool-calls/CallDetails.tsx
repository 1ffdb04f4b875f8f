/** All details of a call: arguments, output, result, and who decided it and why. */
import { useState } from "react";
import type { CallView, Reason, ToolResult } from "../../api/schema";
import { useQuery, useLanguage, useUserId } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { visibleName, visibleText } from "../../ui/safeText";
import { timeOf } from "../../ui/timeFormat";
import { CallPanel } from "./CallPanel";
import { SubagentLinks } from "./SubagentLinks";
import { TextValue } from "./TextValue";

interface Props {
  call: CallView;
  result: ToolResult | null;
  context: string;
  workspace: string | null;
}

const NOT_RUN = new Set<CallView["status"]>(["rejected", "denied", "cancelled", "interrupted"]);

export function CallDetails({ call, result, context, workspace }: Props) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const user = useUserId();
  const reason = NOT_RUN.has(call.status) ? (call.reason ?? result?.error ?? null) : null;
  const content = result?.content ?? call.result ?? null;
  return (
    <div className="call-details">
      {reason !== null && <Refusal reason={reason} />}
      <CallPanel call={call} workspace={workspace} isDecided={call.status !== "pending"} />
      {call.tool === "delegate" && <SubagentLinks call={call} context={context} />}
      {call.output != null && result === null && <LiveOutput text={call.output} />}
      {content !== null && reason === null && <Result text={content} call={call} context={context} />}
      <footer className="call-foot">
        {call.decided_by != null && (
          <span className="soft small">
            <ForeignText
              text={call.decided_by === user ? t("decidedByYou") : t("decidedBy", { by: visibleName(call.decided_by) })}
            />
            {call.decided_at != null && ` · ${timeOf(call.decided_at, language)}`}
          </span>
        )}
        <Explanation call={call} context={context} />
      </footer>
    </div>
  );
}

/**
 * Why the call did not run. For a rejection, only the user's feedback is shown: the rest of the reason addresses the
 * model.
 */
function Refusal({ reason }: { reason: Reason }) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const personReason = reason.code === "rejected" ? String(reason.params?.reason ?? "") : null;
  if (personReason === "") return null;
  return (
    <p className="note small">
      <ForeignText
        text={personReason === null ? translateReason(reason, language) : t("rejectedWith", { reason: personReason })}
      />
    </p>
  );
}

/** The last part of the output of a running call, as sent by the server. */
function LiveOutput({ text }: { text: string }) {
  const t = useTexts("approvals");
  if (text === "") return null;
  return (
    <section aria-label={t("output")}>
      <h3 className="call-heading">{t("output")}</h3>
      <pre className="live-output">{visibleText(text)}</pre>
    </section>
  );
}

/** A long result is shortened in the middle for the model; the server stores the full output. */
const TRUNCATED = / left out\. .{1,2000} …\]\n/s;

function Result({ text, call, context }: { text: string; call: CallView; context: string }) {
  const t = useTexts("approvals");
  const [isRequested, setRequested] = useState(false);
  const path = { context_id: context, call_id: call.id };
  const { value, problem } = useQuery(
    "GET /api/contexts/{context_id}/tool-calls/{call_id}/output",
    isRequested ? { path } : null,
  );
  const name = t(value === null ? "result" : "fullOutput");
  return (
    <section aria-label={name}>
      <h3 className="call-heading">{name}</h3>
      {text === "" ? <p className="soft small">{t("noResult")}</p> : <TextValue text={value ?? text} label={name} />}
      <ProblemNote problem={problem} />
      {!isRequested && TRUNCATED.test(text) && (
        <Button kind={["quiet", "small"]} onClick={() => setRequested(true)}>
          {t("fullOutput")}
        </Button>
      )}
    </section>
  );
}

/** The audit trail of the call, in the user's language. */
function Explanation({ call, context }: { call: CallView; context: string }) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const path = { context_id: context, call_id: call.id };
  const { value, problem } = useQuery(
    "GET /api/contexts/{context_id}/tool-calls/{call_id}/explain",
    isOpen ? { path } : null,
    `${call.status} ${language}`,
  );
  const label = call.status === "pending" ? "whyWaits" : call.started_at == null ? "whyNot" : "why";
  return (
    <>
      <Button kind={["quiet", "small"]} icon="why" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t(label)}
      </Button>
      {isOpen && (
        <div className="why">
          <ProblemNote problem={problem} />
          {value === null && problem === null && <p className="soft small">{t("loading")}</p>}
          {value?.chain.whole === false && (
            <p className="note bad small" role="status">
              {translateReason({ code: "audit_broken", params: { sequence: value.chain.broken_at } }, language)}
            </p>
          )}
          <ol>
            {(value?.items ?? []).map((step, index) => (
              <li key={index}>
                <time dateTime={step.at}>{timeOf(step.at, language)}</time>
                <span>
                  <ForeignText text={step.what} />
                  {step.why != null && (
                    <span className="soft">
                      {" "}
                      <ForeignText text={step.why} />
                    </span>
                  )}
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  );
}
