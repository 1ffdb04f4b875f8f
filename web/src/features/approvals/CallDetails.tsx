/** All of a call: what it was given, what it wrote, what came back, who decided it and why. */
import { useState } from "react";
import type { CallShape, Reason, ToolResult } from "../../api/schema";
import { useAsked, useLanguage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { visibleName, visibleText } from "../../ui/names";
import { timeOf } from "../../ui/times";
import { CallView } from "./CallView";
import { SubAgents } from "./SubAgents";
import { TextValue } from "./TextValue";
import { WORDS } from "./words";

interface Given {
  call: CallShape;
  result: ToolResult | null;
  context: string;
  workspace: string | null;
}

const REFUSED = new Set<CallShape["status"]>(["rejected", "denied", "cancelled", "interrupted"]);

export function CallDetails({ call, result, context, workspace }: Given) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const reason = REFUSED.has(call.status) ? (call.reason ?? result?.error ?? null) : null;
  const content = result?.content ?? call.result ?? null;
  return (
    <div className="call-details">
      {reason !== null && <Refusal reason={reason} />}
      <CallView call={call} workspace={workspace} isPast={call.status !== "pending"} />
      {call.tool === "delegate" && <SubAgents call={call} context={context} />}
      {call.output != null && result === null && <LiveOutput text={call.output} />}
      {content !== null && reason === null && <Result text={content} call={call} context={context} />}
      <footer className="call-foot">
        {call.decided_by != null && (
          <span className="soft small">
            <ForeignText text={t("decidedBy", { by: visibleName(call.decided_by) })} />
            {call.decided_at != null && ` · ${timeOf(call.decided_at, language)}`}
          </span>
        )}
        <Why call={call} context={context} />
      </footer>
    </div>
  );
}

/** Why it did not run. What a person said stands alone: the rest of it is for the model. */
function Refusal({ reason }: { reason: Reason }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const said = reason.code === "rejected" ? String(reason.params?.reason ?? "") : null;
  if (said === "") return null;
  return (
    <p className="note small">
      <ForeignText text={said === null ? say(reason, language) : t("rejectedWith", { reason: said })} />
    </p>
  );
}

/** The end of what it has written so far: the server sends no more than that. */
function LiveOutput({ text }: { text: string }) {
  const t = useWords(WORDS);
  if (text === "") return null;
  return (
    <section aria-label={t("output")}>
      <h3 className="call-heading">{t("output")}</h3>
      <pre className="live-output">{visibleText(text)}</pre>
    </section>
  );
}

/** Of a long result the model was given its head and its tail, with a note between them; the server has kept the whole. */
const CUT = / left out\. .{1,2000} …\]\n/s;

function Result({ text, call, context }: { text: string; call: CallShape; context: string }) {
  const t = useWords(WORDS);
  const [isAsked, setAsked] = useState(false);
  const path = { context_id: context, call_id: call.id };
  const { value, problem } = useAsked(
    "GET /api/contexts/{context_id}/tool-calls/{call_id}/output",
    isAsked ? { path } : null,
  );
  const name = t(value === null ? "result" : "fullOutput");
  return (
    <section aria-label={name}>
      <h3 className="call-heading">{name}</h3>
      {text === "" ? <p className="soft small">{t("noResult")}</p> : <TextValue text={value ?? text} label={name} />}
      <ProblemNote problem={problem} />
      {!isAsked && CUT.test(text) && (
        <Button kind={["quiet", "small"]} onClick={() => setAsked(true)}>
          {t("fullOutput")}
        </Button>
      )}
    </section>
  );
}

/** Told from the audit, step by step, in the person's language. */
function Why({ call, context }: { call: CallShape; context: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const [isAsked, setAsked] = useState(false);
  const path = { context_id: context, call_id: call.id };
  const { value, problem } = useAsked(
    "GET /api/contexts/{context_id}/tool-calls/{call_id}/explain",
    isAsked ? { path } : null,
    `${call.status} ${language}`,
  );
  const words = call.status === "pending" ? "whyWaits" : call.started_at == null ? "whyNot" : "why";
  return (
    <>
      <Button kind={["quiet", "small"]} icon="why" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
        {t(words)}
      </Button>
      {isAsked && (
        <div className="why">
          <ProblemNote problem={problem} />
          {value === null && problem === null && <p className="soft small">{t("loading")}</p>}
          {value?.chain.whole === false && (
            <p className="note bad small" role="status">
              {say({ code: "audit_broken", params: { sequence: value.chain.broken_at } }, language)}
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
