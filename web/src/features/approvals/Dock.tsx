/** The calls that wait for a decision, always on screen above the box. */
import { useEffect, useRef, useState } from "react";
import type { CallShape } from "../../api/schema";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { focusBox } from "../chat/editing";
import { Card } from "./Card";
import { countsOf, parseDiff } from "./diff";
import type { Decision } from "./keys";
import type { Asked } from "./Panel";
import { focusUnread } from "./readProgress";
import { decisionWords } from "./outcome";
import { essenceOf, isDangerous, titleOf } from "./tools";
import { type DockState, useDock } from "./useDock";
import { focusCard, useDockFocus } from "./useDockFocus";
import { useDockKeys } from "./useDockKeys";
import { useTitleBadge } from "./useTitleBadge";
import { chosenOf } from "./waiting";
import { WORDS } from "./words";
import "./dock.css";

/** What the cards of the dock are given. */
export interface Deciding extends DockState {
  readonly asked: Asked | null;
  ask(asked: Asked | null): void;
  isOpen(call: string): boolean;
  toggle(call: string): void;
  /** All of the call was on the screen. */
  markRead(call: CallShape): void;
  /** Why these cannot be approved yet: not all of their text was on the screen. */
  whyUnread(calls: readonly CallShape[]): string | null;
  isTicked(call: string): boolean;
  tick(call: string): void;
  /** What a decision about several is about: those that are ticked, else all that wait. */
  readonly chosen: readonly CallShape[];
}

export function Dock({ id }: { id: string }) {
  useTitleBadge();
  return <DockOf key={id} id={id} />;
}

function DockOf({ id }: { id: string }) {
  const t = useWords(WORDS);
  const dock = useDock(id);
  const element = useRef<HTMLElement>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [closed, toggle] = useToggled();
  const [read, setRead] = useState<ReadonlySet<string>>(new Set());
  const [ticked, tick] = useToggled();
  const times = useDockFocus(dock, element);
  const calls = dock.waiting.filter(({ sent }) => sent === null).map(({ call }) => call);
  const stillAsked =
    asked?.calls.filter((each) => calls.some((call) => call.id === each.id && call.digest === each.digest)) ?? [];
  const deciding: Deciding = {
    ...dock,
    asked: asked === null || stillAsked.length === 0 ? null : { ...asked, calls: stillAsked },
    ask(next) {
      setAsked(next);
      if (next === null) focusCard(asked?.calls[0]?.id ?? null);
    },
    isOpen: (call) => !closed.has(call),
    toggle,
    markRead: (call) => setRead((old) => new Set([...old, call.digest])),
    whyUnread(of) {
      const n = of.filter((call) => !read.has(call.digest)).length;
      return n === 0 ? null : t("readFirst", { n });
    },
    isTicked: (call) => ticked.has(call),
    tick,
    chosen: chosenOf(calls, ticked),
  };

  const onDecision = (decision: Decision, call: CallShape) => {
    if (decision === "look") return focusCard(call.id);
    if (decision === "leave") return focusBox();
    if (dock.off !== null) return announce(dock.off, true);
    const each = (verdict: "approve" | "reject", of: readonly CallShape[]) =>
      dock.decide(of.map(({ id: name, digest }) => ({ id: name, verdict, digest })));
    const { chosen } = deciding;
    const isAboutAll = decision === "approveAll";
    const unread = deciding.whyUnread(isAboutAll ? chosen : [call]);
    const isApproving = isAboutAll || decision === "approve" || decision === "always";
    if (isApproving && unread !== null) {
      announce(unread, true);
      focusUnread(element.current);
    } else if (decision === "approve" || decision === "reject") each(decision, [call]);
    else if (decision === "rejectAll") each("reject", chosen);
    else if (isAboutAll && (calls.length > 1 || !isDangerous(call))) each("approve", chosen);
    else if (decision === "always" || decision === "reason") setAsked({ kind: decision, calls: [call] });
  };
  useDockKeys({ element, times, calls: deciding.asked === null ? calls : [], onDecision });

  const below = useSlice((state) => state.contexts[id]?.shape.value?.waiting_below ?? [], [id]);
  const isEmpty = [dock.waiting, dock.answered, below].every((each) => each.length === 0);
  return (
    <section
      className={calls.some(hasTwoSides) ? "dock is-wide" : "dock"}
      ref={element}
      aria-label={t("dock")}
      hidden={isEmpty}
    >
      <Answered {...dock} />
      <ProblemNote problem={dock.problem} />
      {dock.waiting.length > 0 && <Card dock={deciding} />}
      <Below ids={below} />
    </section>
  );
}

function useToggled(): [ReadonlySet<string>, (name: string) => void] {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  return [
    names,
    (name) => setNames((old) => new Set(old.has(name) ? [...old].filter((each) => each !== name) : [...old, name])),
  ];
}

/** Its change may be shown in two columns. The dock is as wide from the beginning, so that opening it moves nothing. */
function hasTwoSides({ preview }: CallShape): boolean {
  const { added, removed } = countsOf((preview == null ? null : parseDiff(preview)) ?? []);
  return added > 0 && removed > 0;
}

function Answered({ answered, workspace }: DockState) {
  const t = useWords(WORDS);
  const language = useLanguage();
  return answered.map((call) => (
    <p key={call.id} className="dock-answered">
      <Icon name="check" />
      <span className="dock-essence">
        {t("answered")}: <strong>{titleOf(call, language)}</strong> <code>{essenceOf(call, workspace)}</code>
      </span>
      {call.status !== "pending" && <span className="soft">{decisionWords(call, language)}</span>}
    </p>
  ));
}

/** A sub-agent waits in a conversation of its own: the way there. */
function Below({ ids }: { ids: readonly string[] }) {
  const t = useWords(WORDS);
  const { act } = usePage();
  const [first] = ids;
  const words = t("subWaits", { n: ids.length });
  useEffect(() => {
    if (first !== undefined) announce(words, true);
  }, [first, words]);
  if (first === undefined) return null;
  return (
    <p className="dock-below">
      <Icon name="split" />
      <span>{words}</span>
      <Button kind={["primary", "small"]} onClick={() => act({ kind: "activate", id: first })}>
        {t("goThere")}
      </Button>
    </p>
  );
}
