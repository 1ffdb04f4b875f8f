/** The state of the dock: pending calls, calls answered elsewhere, and decisions, each sent in one request. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { CallView, CallDecision, Problem } from "../../api/schema";
import { useLanguage, useAppServices, useSelector, useUserId } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { isConnected } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { decisionText } from "../tool-calls/callOutcome";
import { useReadDigests } from "../read-progress/readProgress";
import { summaryOf, titleOf } from "../tool-calls/callText";
import {
  type RejectedDecision,
  type PendingCall,
  callsDecidedElsewhere,
  latestRecord,
  rejectedDecisions,
  remainingDecisions,
  selectPendingCalls,
} from "./pendingCalls";
import { useIsStable } from "./useIsStable";

const DECIDED_NOTICE_MS = 6_000;

export interface DockState {
  readonly id: string;
  readonly pendingCalls: readonly PendingCall[];
  readonly workspace: string | null;
  readonly decidedElsewhere: readonly CallView[];
  readonly problem: Problem | null;
  /** Why no decision can be made now. */
  readonly disabledReason: string | null;
  decide(decisions: readonly CallDecision[]): void;
  /** Marks calls as decided by this user through another request. */
  claim(calls: readonly CallView[]): void;
  /** Reports that a decision came too late: the actual decision and its author are shown. */
  report(call: CallView): void;
}

export function useDock(id: string): DockState {
  const t = useTexts("approvals");
  const { act, store } = useAppServices();
  const pendingCalls = useSelector((state) => selectPendingCalls(state, id), [id]);
  const workspace = useSelector((state) => state.contexts[id]?.view.value?.workspace ?? null, [id]);
  const rejected = useSelector((state) => rejectedDecisions(state, id), [id]);
  const isOnline = useSelector(isConnected);
  const isSettled = useIsStable(pendingCalls.map(({ call, sent }) => `${call.id} ${call.digest} ${sent}`).join("\n"));
  const [lastRejection, setLastRejection] = useState<RejectedDecision | null>(null);
  const allReadDigests = useReadDigests();
  // A rule given with a decision may start other pending calls only if they were read.
  const readDigests = useRef<readonly string[]>([]);
  readDigests.current = pendingCalls.map(({ call }) => call.digest).filter((digest) => allReadDigests.has(digest));
  const decidedHere = useRef(new Set<string>());
  const claim = useCallback((calls: readonly { readonly id: string }[]) => {
    for (const call of calls) decidedHere.current.add(call.id);
  }, []);
  const disabledReason = !isOnline ? t("offline") : isSettled ? null : t("loading");
  const decide = (decisions: readonly CallDecision[]) => {
    if (disabledReason !== null || decisions.length === 0) return;
    claim(decisions);
    setLastRejection(null);
    act({ kind: "decide", id, body: { decisions, shown: readDigests.current } });
  };

  const { decidedElsewhere, report } = useDecidedElsewhere(id, pendingCalls, decidedHere.current, workspace);
  useEffect(() => {
    for (const each of rejected) {
      store.dispatch({ type: "dismissed", key: each.key });
      for (const { id: call } of each.decisions) decidedHere.current.delete(call);
      const remaining = remainingDecisions(each);
      if (remaining === null || each.problem.code === "digest_changed") {
        setLastRejection(each);
        continue;
      }
      report(each.decisions.filter((decision) => !remaining.includes(decision)).map((decision) => decision.id));
      if (remaining.length === 0) continue;
      claim(remaining);
      act({ kind: "decide", id, body: { decisions: remaining, shown: readDigests.current } });
    }
  }, [rejected, store, act, id, claim, report]);

  // A rejection is shown only while its call is pending: it does not apply to the next call.
  const concernsPendingCall = pendingCalls.some(({ call }) =>
    lastRejection?.decisions.some((each) => each.id === call.id),
  );
  return {
    id,
    pendingCalls,
    workspace,
    decidedElsewhere,
    problem: concernsPendingCall ? (lastRejection?.problem ?? null) : null,
    disabledReason,
    decide,
    claim,
    report: (call) => report([call.id]),
  };
}

interface DecidedElsewhere {
  readonly decidedElsewhere: readonly CallView[];
  /** Adds calls that were decided before, according to the server. */
  report(ids: readonly string[]): void;
}

/** Calls that were decided elsewhere: shown for a moment and announced once. */
function useDecidedElsewhere(
  id: string,
  pendingCalls: readonly PendingCall[],
  decidedHere: ReadonlySet<string>,
  workspace: string | null,
): DecidedElsewhere {
  const t = useTexts("approvals");
  const language = useLanguage();
  const user = useUserId();
  const { environment, store } = useAppServices();
  const [decidedCalls, setDecidedCalls] = useState<readonly CallView[]>([]);
  const callsById = useRef(new Map<string, CallView>());
  const previousCalls = useRef<readonly CallView[]>([]);
  const show = (calls: readonly CallView[]) => {
    const [first] = calls;
    if (first === undefined) return;
    setDecidedCalls((old) => [...old.filter((each) => !calls.includes(each)), ...calls]);
    environment.schedule(DECIDED_NOTICE_MS, () =>
      setDecidedCalls((old) => old.filter((each) => !calls.includes(each))),
    );
    const record = latestRecord(store.getSnapshot(), id, first);
    const summary = `${titleOf(first, language)} ${summaryOf(first, workspace)}`.trim();
    announce(
      record.status === "pending"
        ? `${t("answered")}: ${summary}`
        : t("answeredCall", { what: summary, status: decisionText(record, language, user) }),
    );
  };
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    const calls = pendingCalls.map(({ call }) => call);
    for (const call of calls) callsById.current.set(call.id, call);
    const newlyDecided = callsDecidedElsewhere(previousCalls.current, calls, decidedHere);
    previousCalls.current = calls;
    latest.current(newlyDecided);
  }, [pendingCalls, decidedHere]);
  const report = useCallback(
    (ids: readonly string[]) => latest.current(ids.flatMap((each) => callsById.current.get(each) ?? [])),
    [],
  );
  return {
    decidedElsewhere: useSelector(
      (state) => decidedCalls.map((call) => latestRecord(state, id, call)),
      [decidedCalls, id],
    ),
    report,
  };
}
