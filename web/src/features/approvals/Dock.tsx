/** The calls that wait for a decision, always on screen above the box. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { CallShape } from "../../api/schema";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { focusBox } from "../chat/editing";
import { Card } from "./Card";
import { countsOf, parseDiff } from "./diff";
import { Essence } from "./Essence";
import type { Decision } from "./keys";
import type { Asked } from "./Panel";
import { showUnread, useReadDigests } from "./readProgress";
import { decisionWords } from "./outcome";
import { isDangerous, titleOf } from "./tools";
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
  /** Those of which not all was on the screen. */
  unreadOf(calls: readonly CallShape[]): readonly CallShape[];
  /** Why these cannot be approved yet. */
  whyUnread(calls: readonly CallShape[]): string | null;
  /** Leads to the first place that was not on the screen. */
  showUnread(calls: readonly CallShape[]): void;
  isTicked(call: string): boolean;
  tick(call: string): void;
  /** What a decision about several is about: those that are ticked, else all that wait. */
  readonly chosen: readonly CallShape[];
  /** Whether the card has the room of the conversation, so that long texts are read in few pages. */
  readonly isLarge: boolean;
  enlarge(): void;
  shrink(): void;
}

export function Dock({ id }: { id: string }) {
  useTitleBadge();
  return <DockOf key={id} id={id} />;
}

function DockOf({ id }: { id: string }) {
  const t = useWords(WORDS);
  const { ambient } = usePage();
  const dock = useDock(id);
  const element = useRef<HTMLElement>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [closed, toggle] = useToggled();
  const read = useReadDigests();
  const [ticked, tick] = useToggled();
  const times = useDockFocus(dock, element);
  const size = useSize(element, dock.waiting.length > 0);
  const calls = dock.waiting.filter(({ sent }) => sent === null).map(({ call }) => call);
  const stillAsked =
    asked?.calls.filter((each) => calls.some((call) => call.id === each.id && call.digest === each.digest)) ?? [];
  const deciding: Deciding = {
    ...dock,
    ...size,
    asked: asked === null || stillAsked.length === 0 ? null : { ...asked, calls: stillAsked },
    ask(next) {
      setAsked(next);
      if (next === null) focusCard(asked?.calls[0]?.id ?? null);
    },
    isOpen: (call) => !closed.has(call),
    toggle,
    unreadOf: (of) => of.filter((call) => !read.has(call.digest)),
    whyUnread(of) {
      const { length: n } = deciding.unreadOf(of);
      return n === 0 ? null : t("readFirst", { n });
    },
    showUnread(of) {
      const [first] = deciding.unreadOf(of);
      if (first === undefined) return;
      if (closed.has(first.id)) toggle(first.id);
      ambient.later(0, () => showUnread([first.digest])); // a row that was closed is drawn by then
    },
    isTicked: (call) => ticked.has(call),
    tick,
    chosen: chosenOf(calls, ticked),
  };

  const onDecision = (decision: Decision, call: CallShape) => {
    if (decision === "look") return focusCard(call.id);
    if (decision === "leave") return size.isLarge ? size.shrink() : focusBox();
    if (dock.off !== null) return announce(dock.off, true);
    const each = (verdict: "approve" | "reject", of: readonly CallShape[]) =>
      dock.decide(of.map(({ id: name, digest }) => ({ id: name, verdict, digest })));
    const { chosen } = deciding;
    const isAboutAll = decision === "approveAll";
    const unread = deciding.whyUnread(isAboutAll ? chosen : [call]);
    const isApproving = isAboutAll || decision === "approve" || decision === "always";
    if (isApproving && unread !== null) {
      announce(unread, true);
      deciding.showUnread(isAboutAll ? chosen : [call]);
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

/** What a large card takes the room of. Who goes there with the focus sees it again. */
const BENEATH_LARGE = ".app-foot, .transcript";
const BESIDE_LARGE = ".state-line";

function useSize(
  dock: RefObject<HTMLElement | null>,
  hasCard: boolean,
): Pick<Deciding, "isLarge" | "enlarge" | "shrink"> {
  const [isLarge, setLarge] = useState(false);
  useEffect(() => {
    if (!isLarge) return;
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof Element) || dock.current?.contains(target) === true) return;
      if (target.closest(BESIDE_LARGE) === null && target.closest(BENEATH_LARGE) !== null) setLarge(false);
    };
    window.addEventListener("focusin", onFocus);
    return () => window.removeEventListener("focusin", onFocus);
  }, [isLarge, dock]);
  // At once: later, the person may have gone elsewhere, and the focus would be taken from there.
  useLayoutEffect(() => {
    if (isLarge) dock.current?.querySelector<HTMLElement>("[data-scrolls]")?.focus();
  }, [isLarge, dock]);
  const enlarge = () => setLarge(true);
  const shrink = () => {
    setLarge(false);
    focusCard(null);
  };
  useShortcut("approval.enlarge", hasCard ? (isLarge ? shrink : enlarge) : null);
  return { isLarge, enlarge, shrink };
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
        {t("answered")}:{" "}
        <strong>
          <ForeignText text={titleOf(call, language)} />
        </strong>{" "}
        <Essence call={call} workspace={workspace} />
      </span>
      {call.status !== "pending" && (
        <span className="soft">
          <ForeignText text={decisionWords(call, language)} />
        </span>
      )}
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
