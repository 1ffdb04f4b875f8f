/** What the dock shows and does: what waits, what was answered elsewhere, and decisions, in one request each. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { CallShape, OneDecision, Problem } from "../../api/schema";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { isConnected } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { decisionWords } from "./outcome";
import { useReadDigests } from "./readProgress";
import { essenceOf, titleOf } from "./tools";
import {
  type Refused,
  type Waiting,
  answeredElsewhere,
  recordOf,
  refusedDecisions,
  restOf,
  waitingCalls,
} from "./waiting";
import { useSettled } from "./useSettled";
import { WORDS } from "./words";

const SHOWN_FOR = 6_000;

export interface DockState {
  readonly id: string;
  readonly waiting: readonly Waiting[];
  readonly workspace: string | null;
  readonly answered: readonly CallShape[];
  readonly problem: Problem | null;
  /** Why nothing can be decided now. */
  readonly off: string | null;
  decide(decisions: readonly OneDecision[]): void;
  /** These are decided in another way, by this person too. */
  claim(calls: readonly CallShape[]): void;
  /** A decision about this call came too late: it shows what was decided, and by whom. */
  report(call: CallShape): void;
}

export function useDock(id: string): DockState {
  const t = useWords(WORDS);
  const { act, store } = usePage();
  const waiting = useSlice((state) => waitingCalls(state, id), [id]);
  const workspace = useSlice((state) => state.contexts[id]?.shape.value?.workspace ?? null, [id]);
  const refused = useSlice((state) => refusedDecisions(state, id), [id]);
  const isOn = useSlice(isConnected);
  const isSettled = useSettled(waiting.map(({ call, sent }) => `${call.id} ${call.digest} ${sent}`).join("\n"));
  const [refusal, setRefusal] = useState<Refused | null>(null);
  const read = useReadDigests();
  // A rule that is given with a decision starts, of what else waits, only what was read.
  const shown = useRef<readonly string[]>([]);
  shown.current = waiting.map(({ call }) => call.digest).filter((digest) => read.has(digest));
  const mine = useRef(new Set<string>());
  const claim = useCallback((calls: readonly { readonly id: string }[]) => {
    for (const call of calls) mine.current.add(call.id);
  }, []);
  const off = !isOn ? t("offline") : isSettled ? null : t("loading");
  const decide = (decisions: readonly OneDecision[]) => {
    if (off !== null || decisions.length === 0) return;
    claim(decisions);
    setRefusal(null);
    act({ kind: "decide", id, body: { decisions, shown: shown.current } });
  };

  const { answered, report } = useAnswered(id, waiting, mine.current, workspace);
  useEffect(() => {
    for (const each of refused) {
      store.dispatch({ type: "dismissed", key: each.key });
      for (const { id: call } of each.decisions) mine.current.delete(call);
      const rest = restOf(each);
      if (rest === null || each.problem.code === "digest_changed") {
        setRefusal(each);
        continue;
      }
      report(each.decisions.filter((one) => !rest.includes(one)).map((one) => one.id));
      if (rest.length === 0) continue;
      claim(rest);
      act({ kind: "decide", id, body: { decisions: rest, shown: shown.current } });
    }
  }, [refused, store, act, id, claim, report]);

  // What was refused about a call goes with that call: it says nothing about the next.
  const isAbout = waiting.some(({ call }) => refusal?.decisions.some((each) => each.id === call.id));
  return {
    id,
    waiting,
    workspace,
    answered,
    problem: isAbout ? (refusal?.problem ?? null) : null,
    off,
    decide,
    claim,
    report: (call) => report([call.id]),
  };
}

interface Answered {
  readonly answered: readonly CallShape[];
  /** The server said of these that they were answered before. */
  report(ids: readonly string[]): void;
}

/** Calls that somebody else has decided: shown for a moment, and said once. */
function useAnswered(
  id: string,
  waiting: readonly Waiting[],
  mine: ReadonlySet<string>,
  workspace: string | null,
): Answered {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { ambient, store } = usePage();
  const [gone, setGone] = useState<readonly CallShape[]>([]);
  const known = useRef(new Map<string, CallShape>());
  const before = useRef<readonly CallShape[]>([]);
  const show = (fresh: readonly CallShape[]) => {
    const [first] = fresh;
    if (first === undefined) return;
    setGone((old) => [...old.filter((each) => !fresh.includes(each)), ...fresh]);
    ambient.later(SHOWN_FOR, () => setGone((old) => old.filter((each) => !fresh.includes(each))));
    const record = recordOf(store.getSnapshot(), id, first);
    const what = `${titleOf(first, language)} ${essenceOf(first, workspace)}`.trim();
    announce(
      record.status === "pending"
        ? `${t("answered")}: ${what}`
        : t("answeredCall", { what, status: decisionWords(record, language) }),
    );
  };
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    const calls = waiting.map(({ call }) => call);
    for (const call of calls) known.current.set(call.id, call);
    const fresh = answeredElsewhere(before.current, calls, mine);
    before.current = calls;
    latest.current(fresh);
  }, [waiting, mine]);
  const report = useCallback(
    (ids: readonly string[]) => latest.current(ids.flatMap((each) => known.current.get(each) ?? [])),
    [],
  );
  return { answered: useSlice((state) => gone.map((call) => recordOf(state, id, call)), [gone, id]), report };
}
