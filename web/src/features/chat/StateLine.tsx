/** The state of the turn in words, with progress, attempt and elapsed time, and buttons to pause, stop or continue. */
import { useEffect, useState } from "react";
import type { State } from "../../api/types";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { type Language, translateReason, translateState } from "../../i18n/serverTexts";
import { type Texts, hasText, textsIn, useTexts } from "../../i18n/texts";
import { canContinue, canSend, isBusy, isConnected, isStopping } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { ForeignText } from "../../ui/ForeignText";
import { Button } from "../../ui/Button";
import { titleOf } from "../tool-calls/callText";
import "./state-line.css";

const MIN_ELAPSED_SECONDS = 3;

export function StateLine({ id }: { id: string }) {
  const t = useTexts("stateLine");
  const language = useLanguage();
  const { act } = useAppServices();
  const state = useSelector((all) => all.contexts[id]?.view.value?.current_state ?? null, [id]);
  const isWorking = useSelector((all) => isBusy(all, id), [id]);
  const isOnline = useSelector(isConnected);
  const mayContinue = useSelector((all) => canContinue(all, id), [id]);
  const isTurnOpen = useSelector((all) => canSend(all, id) === "later", [id]);
  const isStopRequested = useSelector((all) => isStopping(all, id), [id]);
  const now = useNow(isWorking);
  const since = useSince(id, isWorking);
  const stateText = state === null ? "" : stateWords(state, language);
  useEffect(() => {
    if (stateText !== "") announce(stateText);
  }, [stateText]);
  const controlTurn = (action: "cancel" | "pause" | "resume" | "continue" | "retry") =>
    act({ kind: "control", id, action });
  const detail = state === null ? [] : detailOf(state, t, now);
  const elapsed = isWorking ? Math.floor((now - since) / 1000) : 0;
  const detailText = [...detail, ...(elapsed >= MIN_ELAPSED_SECONDS ? [t("seconds", { n: elapsed })] : [])].join(" · ");
  const offlineReason = isOnline ? null : t("lastKnown", { state: stateText });
  return (
    <>
      {state?.type === "waiting_for_recovery" && (
        <p className="note bad state-note" role="alert">
          <ForeignText text={t("unsaved", { why: translateReason(state.reason, language) })} />
        </p>
      )}
      <div
        className={`state-line ${stateText === "" ? "is-quiet" : ""} ${isWorking ? "is-working" : ""}`}
        data-state={state?.type}
      >
        {stateText !== "" && <span className="state-dot" aria-hidden="true" />}
        <span className="state-words">
          <ForeignText text={isOnline || stateText === "" ? stateText : t("lastKnown", { state: stateText })} />
        </span>
        <span className="state-detail">{detailText}</span>
        {state !== null && "error_type" in state && (
          <span className="state-detail">
            <ForeignText text={translateReason(state.error_type, language)} />
          </span>
        )}
        <span className="state-buttons">
          {state?.type === "transient_error" && (
            <Button kind="small" disabledReason={offlineReason} onClick={() => controlTurn("retry")}>
              {t("retryNow")}
            </Button>
          )}
          {state?.type === "paused" && (
            <Button kind="small" disabledReason={offlineReason} icon="play" onClick={() => controlTurn("resume")}>
              {t("resume")}
            </Button>
          )}
          {mayContinue && state?.type !== "idle" && (
            <Button kind="small" disabledReason={offlineReason} icon="play" onClick={() => controlTurn("continue")}>
              {t(state?.type === "waiting_for_recovery" ? "tryAgain" : "continue")}
            </Button>
          )}
          {isWorking && state?.type !== "cancelling" && (
            <Button
              kind={["small", "quiet"]}
              disabledReason={offlineReason}
              icon="pause"
              onClick={() => controlTurn("pause")}
            >
              {t("pause")}
            </Button>
          )}
          {isTurnOpen && (
            // Shown only while a large card covers the composer, which has a stop button of its own.
            <Button
              kind="small"
              icon="stop"
              extraClass="state-stop"
              disabledReason={offlineReason ?? (isStopRequested ? t("stopping") : null)}
              onClick={() => controlTurn("cancel")}
            >
              {t("stop")}
            </Button>
          )}
        </span>
      </div>
    </>
  );
}

/** The progress of states that report it. */
function detailOf(state: State, t: Texts<"stateLine">, now: number): string[] {
  switch (state.type) {
    case "transient_error": {
      const seconds = Math.max(0, Math.ceil((new Date(state.retry_at).getTime() - now) / 1000));
      const attempt = t("attempt", { retry: state.retry_count, max: state.max_retries });
      return [seconds > 0 ? t("retryIn", { n: seconds, attempt }) : attempt];
    }
    case "executing_tool":
      return [
        ...((state.attempt ?? 1) > 1 ? [t("secondAttempt")] : []),
        ...(state.total > 1 ? [t("done", { done: state.done, total: state.total })] : []),
      ];
    case "streaming_llm_response":
      return [t("characters", { n: state.chars_accumulated })];
    case "awaiting_tool_approval":
      return [t("calls", { n: state.total ?? state.pending_requests.length })];
    case "awaiting_user_answer":
      return [t("questions", { n: state.total ?? state.question_ids.length })];
    case "compressing_messages":
      return [t("messages", { n: state.messages_to_compress })];
    default:
      return [];
  }
}

function useNow(isRunning: boolean): number {
  const { environment } = useAppServices();
  const [now, setNow] = useState(environment.now());
  useEffect(() => {
    if (!isRunning) return;
    setNow(environment.now());
    const timer = setInterval(() => setNow(environment.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning, environment]);
  return now;
}

/**
 * When the turn started according to the server. If the local clock is behind that, the time at which the work was
 * first seen.
 */
function useSince(id: string, isWorking: boolean): number {
  const { environment } = useAppServices();
  const startedAt = useSelector((state) => Date.parse(state.contexts[id]?.view.value?.turn?.started_at ?? ""), [id]);
  const [firstSeen, setFirstSeen] = useState(environment.now());
  useEffect(() => setFirstSeen(environment.now()), [id, isWorking, environment]);
  return startedAt <= firstSeen ? startedAt : firstSeen;
}

/** The progress text of a running built-in tool (“Reading a file…”); other tools are shown by name. */
function stateWords(state: State, language: Language): string {
  if (state.type !== "executing_tool") return translateState(state, language);
  const { tool_name } = state;
  if (hasText("toolProgress", tool_name)) return textsIn(language, "toolProgress")(tool_name);
  return translateState(
    { ...state, tool_name: titleOf({ tool: tool_name, display_name: tool_name }, language) },
    language,
  );
}
