/** What is going on, from the state alone: in words, how far, which attempt, since when; and the ways to stop it. */
import { useEffect, useState } from "react";
import type { State } from "../../api/types";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { type Language, say, sayState } from "../../i18n/say";
import { type Say, useWords } from "../../i18n/words";
import { canContinue, canSend, isBusy, isConnected, isStopping } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { ForeignText } from "../../ui/ForeignText";
import { Button } from "../../ui/Button";
import { titleOf } from "../approvals/tools";
import "./state-line.css";

const WORDS = {
  attempt: ["attempt {retry} of {max}", "第 {retry} 次，共 {max} 次"],
  inSeconds: ["in {n} s", "{n} 秒后"],
  retryNow: ["Retry now", "立即重试"],
  stop: ["Stop", "停止"],
  stopping: ["Stopping…", "正在停止…"],
  pause: ["Pause", "暂停"],
  resume: ["Resume", "恢复"],
  continue: ["Continue", "继续"],
  tryAgain: ["Try again now", "立即重试"],
  unsaved: [
    "The server cannot save this conversation: {why} Nothing that was saved is lost. Free space on the server's disk, or make its data folder writable; it tries again by itself.",
    "服务器无法保存此对话：{why}已保存的内容不会丢失。请释放服务器磁盘空间，或确保其数据文件夹可写；服务器会自动重试。",
  ],
  done: ["{done} of {total} done", "已完成 {done}/{total}"],
  characters: ["{n} characters", "{n} 个字符"],
  seconds: ["{n} s", "{n} 秒"],
  lastKnown: ["No connection. Last known: {state}", "无连接。最后状态：{state}"],
  calls: ["{n} {n|call|calls}", "{n} 个调用"],
  questions: ["{n} {n|question|questions}", "{n} 个问题"],
  messages: ["{n} messages", "{n} 条消息"],
} as const;
const SHOWN_AFTER = 3;

export function StateLine({ id }: { id: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act } = usePage();
  const state = useSlice((all) => all.contexts[id]?.shape.value?.current_state ?? null, [id]);
  const isWorking = useSlice((all) => isBusy(all, id), [id]);
  const isOn = useSlice(isConnected);
  const mayContinue = useSlice((all) => canContinue(all, id), [id]);
  const isTurnOpen = useSlice((all) => canSend(all, id) === "later", [id]);
  const isEnding = useSlice((all) => isStopping(all, id), [id]);
  const now = useNow(isWorking);
  const since = useSince(id, isWorking);
  const words = state === null ? "" : sayState(named(state, language), language);
  useEffect(() => {
    if (words !== "") announce(words);
  }, [words]);
  const steer = (how: "cancel" | "pause" | "resume" | "continue" | "retry") => act({ kind: "steer", id, how });
  const detail = state === null ? [] : detailOf(state, t, now);
  const elapsed = isWorking ? Math.floor((now - since) / 1000) : 0;
  const shown = [...detail, ...(elapsed >= SHOWN_AFTER ? [t("seconds", { n: elapsed })] : [])].join(" · ");
  const off = isOn ? null : t("lastKnown", { state: words });
  return (
    <>
      {state?.type === "waiting_for_recovery" && (
        <p className="note bad state-note" role="alert">
          <ForeignText text={t("unsaved", { why: say(state.reason, language) })} />
        </p>
      )}
      <div
        className={`state-line ${words === "" ? "is-quiet" : ""} ${isWorking ? "is-working" : ""}`}
        data-state={state?.type}
      >
        {words !== "" && <span className="state-dot" aria-hidden="true" />}
        <span className="state-words">
          <ForeignText text={isOn || words === "" ? words : t("lastKnown", { state: words })} />
        </span>
        <span className="state-detail">{shown}</span>
        {state !== null && "error_type" in state && (
          <span className="state-detail">
            <ForeignText text={say(state.error_type, language)} />
          </span>
        )}
        <span className="state-buttons">
          {state?.type === "transient_error" && (
            <Button kind="small" whyNot={off} onClick={() => steer("retry")}>
              {t("retryNow")}
            </Button>
          )}
          {state?.type === "paused" && (
            <Button kind="small" whyNot={off} icon="play" onClick={() => steer("resume")}>
              {t("resume")}
            </Button>
          )}
          {mayContinue && state?.type !== "idle" && (
            <Button kind="small" whyNot={off} icon="play" onClick={() => steer("continue")}>
              {t(state?.type === "waiting_for_recovery" ? "tryAgain" : "continue")}
            </Button>
          )}
          {isWorking && state?.type !== "cancelling" && (
            <Button kind={["small", "quiet"]} whyNot={off} icon="pause" onClick={() => steer("pause")}>
              {t("pause")}
            </Button>
          )}
          {isTurnOpen && (
            // Only while a large card takes the room of the box, which has one of its own.
            <Button
              kind="small"
              icon="stop"
              extraClass="state-stop"
              whyNot={off ?? (isEnding ? t("stopping") : null)}
              onClick={() => steer("cancel")}
            >
              {t("stop")}
            </Button>
          )}
        </span>
      </div>
    </>
  );
}

/** How far it is, of the states that say so. */
function detailOf(state: State, t: Say<typeof WORDS>, now: number): string[] {
  switch (state.type) {
    case "transient_error": {
      const seconds = Math.max(0, Math.ceil((new Date(state.retry_at).getTime() - now) / 1000));
      return [
        t("attempt", { retry: state.retry_count, max: state.max_retries }),
        ...(seconds > 0 ? [t("inSeconds", { n: seconds })] : []),
      ];
    }
    case "executing_tool":
      return state.total > 1 ? [t("done", { done: state.done, total: state.total })] : [];
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
  const { ambient } = usePage();
  const [now, setNow] = useState(ambient.now());
  useEffect(() => {
    if (!isRunning) return;
    setNow(ambient.now());
    const timer = setInterval(() => setNow(ambient.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning, ambient]);
  return now;
}

/** Since when it works: as the server says, unless our clock says that this is still to come. */
function useSince(id: string, isWorking: boolean): number {
  const { ambient } = usePage();
  const told = useSlice((state) => Date.parse(state.contexts[id]?.shape.value?.turn?.started_at ?? ""), [id]);
  const [seen, setSeen] = useState(ambient.now());
  useEffect(() => setSeen(ambient.now()), [id, isWorking, ambient]);
  return told <= seen ? told : seen;
}

/** A tool goes by what it does, as everywhere on the page. */
function named(state: State, language: Language): State {
  if (state.type !== "executing_tool") return state;
  return { ...state, tool_name: titleOf({ tool: state.tool_name, display_name: state.tool_name }, language) };
}
