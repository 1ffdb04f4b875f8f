/** The dock with the pending calls, always visible above the composer. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { CallView } from "../../api/schema";
import { useLanguage, useAppServices, useSelector, useUserId } from "../../app/appServices";
import { useShortcut } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { focusComposer } from "../chat/messageEdit";
import { ApprovalCard } from "./ApprovalCard";
import { countLines, parseDiff } from "../diff/unifiedDiff";
import { CallSummary } from "../tool-calls/CallSummary";
import type { Decision } from "./decisionKeys";
import type { OpenPanel } from "./DecisionPanel";
import { revealUnread, useReadDigests } from "../read-progress/readProgress";
import { decisionText } from "../tool-calls/callOutcome";
import { isDangerous, titleOf } from "../tool-calls/callText";
import { type DockState, useDock } from "./useDock";
import { focusCard, useDockFocus } from "./useDockFocus";
import { useDockKeys } from "./useDockKeys";
import { useTitleBadge } from "./useTitleBadge";
import { selectedCalls } from "./pendingCalls";
import "./dock.css";

/** The state and actions that the cards of the dock share. */
export interface DockControls extends DockState {
  readonly panel: OpenPanel | null;
  openPanel(panel: OpenPanel | null): void;
  isOpen(call: string): boolean;
  toggle(call: string): void;
  /** The calls that were not completely on the screen. */
  unreadOf(calls: readonly CallView[]): readonly CallView[];
  /** Why the calls cannot be approved yet; null if all are read. */
  unreadReason(calls: readonly CallView[]): string | null;
  /** Scrolls to the first unread part. */
  showUnread(calls: readonly CallView[]): void;
  isChecked(call: string): boolean;
  toggleChecked(call: string): void;
  /** The calls of a group decision: the ticked calls, else all pending calls. */
  readonly selected: readonly CallView[];
  /** Whether the card covers the transcript, so that a long text needs few pages. */
  readonly isLarge: boolean;
  enlarge(): void;
  shrink(): void;
}

export function ApprovalDock({ id }: { id: string }) {
  useTitleBadge();
  return <ContextDock key={id} id={id} />;
}

function ContextDock({ id }: { id: string }) {
  const t = useTexts("approvals");
  const { environment } = useAppServices();
  const dock = useDock(id);
  const element = useRef<HTMLElement>(null);
  const [panel, setPanel] = useState<OpenPanel | null>(null);
  const [collapsed, toggle] = useToggleSet();
  const read = useReadDigests();
  const [checked, toggleChecked] = useToggleSet();
  const times = useDockFocus(dock, element);
  const size = useCardSize(element, dock.pendingCalls.length > 0);
  const calls = dock.pendingCalls.filter(({ sent }) => sent === null).map(({ call }) => call);
  const panelCalls =
    panel?.calls.filter((each) => calls.some((call) => call.id === each.id && call.digest === each.digest)) ?? [];
  const controls: DockControls = {
    ...dock,
    ...size,
    panel: panel === null || panelCalls.length === 0 ? null : { ...panel, calls: panelCalls },
    openPanel(next) {
      setPanel(next);
      if (next === null) focusCard(panel?.calls[0]?.id ?? null);
    },
    isOpen: (call) => !collapsed.has(call),
    toggle,
    unreadOf: (targets) => targets.filter((call) => !read.has(call.digest)),
    unreadReason(targets) {
      const { length: n } = controls.unreadOf(targets);
      return n === 0 ? null : t("readFirst", { n });
    },
    showUnread(targets) {
      const [first] = controls.unreadOf(targets);
      if (first === undefined) return;
      if (collapsed.has(first.id)) toggle(first.id);
      environment.schedule(0, () => revealUnread([first.digest])); // a collapsed row is rendered by then
    },
    isChecked: (call) => checked.has(call),
    toggleChecked,
    selected: selectedCalls(calls, checked),
  };

  const onDecision = (decision: Decision, call: CallView) => {
    if (decision === "focus") return focusCard(call.id);
    if (decision === "leaveCard") return size.isLarge ? size.shrink() : focusComposer();
    if (dock.disabledReason !== null) return announce(dock.disabledReason, true);
    const decideEach = (verdict: "approve" | "reject", targets: readonly CallView[]) =>
      dock.decide(targets.map(({ id: name, digest }) => ({ id: name, verdict, digest })));
    const { selected } = controls;
    const isApproveAll = decision === "approveAll";
    const unread = controls.unreadReason(isApproveAll ? selected : [call]);
    const isApproving = isApproveAll || decision === "approve" || decision === "always";
    if (isApproving && unread !== null) {
      announce(unread, true);
      controls.showUnread(isApproveAll ? selected : [call]);
    } else if (decision === "approve" || decision === "reject") decideEach(decision, [call]);
    else if (decision === "rejectAll") decideEach("reject", selected);
    else if (isApproveAll && (calls.length > 1 || !isDangerous(call))) decideEach("approve", selected);
    else if (decision === "always" || decision === "reason") setPanel({ kind: decision, calls: [call] });
  };
  useDockKeys({ element, times, calls: controls.panel === null ? calls : [], onDecision });

  const pendingSubagents = useSelector((state) => state.contexts[id]?.view.value?.waiting_below ?? [], [id]);
  const isEmpty = [dock.pendingCalls, dock.decidedElsewhere, pendingSubagents].every((each) => each.length === 0);
  return (
    <section
      className={calls.some(isTwoSidedDiff) ? "dock is-wide" : "dock"}
      ref={element}
      aria-label={t("dock")}
      hidden={isEmpty}
    >
      <DecidedCalls {...dock} />
      <ProblemNote problem={dock.problem} />
      {dock.pendingCalls.length > 0 && <ApprovalCard dock={controls} />}
      <SubagentsWaiting ids={pendingSubagents} />
    </section>
  );
}

/** The areas that a large card covers. Focusing one of them shrinks the card. */
const HIDDEN_BY_LARGE_CARD = ".app-foot, .transcript";
const VISIBLE_BESIDE_LARGE_CARD = ".state-line";

function useCardSize(
  dock: RefObject<HTMLElement | null>,
  hasCard: boolean,
): Pick<DockControls, "isLarge" | "enlarge" | "shrink"> {
  const [isLarge, setLarge] = useState(false);
  useEffect(() => {
    if (!isLarge) return;
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof Element) || dock.current?.contains(target) === true) return;
      if (target.closest(VISIBLE_BESIDE_LARGE_CARD) === null && target.closest(HIDDEN_BY_LARGE_CARD) !== null)
        setLarge(false);
    };
    window.addEventListener("focusin", onFocus);
    return () => window.removeEventListener("focusin", onFocus);
  }, [isLarge, dock]);
  // In a layout effect: a later effect could take the focus from a control that the user has moved to meanwhile.
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

function useToggleSet(): [ReadonlySet<string>, (name: string) => void] {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  return [
    names,
    (name) => setNames((old) => new Set(old.has(name) ? [...old].filter((each) => each !== name) : [...old, name])),
  ];
}

/**
 * Whether the diff may be shown in two columns. The dock is wide from the start, so that opening a diff moves nothing.
 */
function isTwoSidedDiff({ preview }: CallView): boolean {
  const { added, removed } = countLines((preview == null ? null : parseDiff(preview)) ?? []);
  return added > 0 && removed > 0;
}

function DecidedCalls({ decidedElsewhere, workspace }: DockState) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const user = useUserId();
  return decidedElsewhere.map((call) => (
    <p key={call.id} className="dock-answered">
      <Icon name="check" />
      <span className="dock-summary">
        {t("answered")}:{" "}
        <strong>
          <ForeignText text={titleOf(call, language)} />
        </strong>{" "}
        <CallSummary call={call} workspace={workspace} />
      </span>
      {call.status !== "pending" && (
        <span className="soft">
          <ForeignText text={decisionText(call, language, user)} />
        </span>
      )}
    </p>
  ));
}

/** Links to sub-agents that wait for the user in their own conversations. */
function SubagentsWaiting({ ids }: { ids: readonly string[] }) {
  const t = useTexts("approvals");
  const { act } = useAppServices();
  const [first] = ids;
  const text = t("subWaits", { n: ids.length });
  useEffect(() => {
    if (first !== undefined) announce(text, true);
  }, [first, text]);
  if (first === undefined) return null;
  return (
    <p className="dock-subagents">
      <Icon name="split" />
      <span>{text}</span>
      <Button kind={["primary", "small"]} onClick={() => act({ kind: "activate", id: first })}>
        {t("goThere")}
      </Button>
    </p>
  );
}
