/** The transcript: a virtual list that follows its end only while the user is at the end. */
import { type ReactNode, useEffect, useMemo } from "react";
import { useAppServices, useSelector } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { visibleMessages } from "../../../store/selectors";
import { memoizeByParts } from "../../../store/structuralSharing";
import { Button } from "../../../ui/Button";
import { versionsByRow, versionsOf } from "../../branches/versions";
import { LastUserMessage } from "./LastUserMessage";
import { RowView } from "./RowView";
import { RowBox } from "./RowBox";
import { createListCache, useVirtualList } from "./useVirtualList";
import { estimateHeight, createRowBuilder, trailingRows } from "./rows";
import { useCopyShortcuts } from "../useCopyShortcuts";
import { useAnswerAnnouncement } from "../useAnswerAnnouncement";
import { useScrollTarget } from "../useScrollTarget";
import "./transcript.css";

/** The height in pixels above the first row, as in the style sheet; `line` is added while there are older messages. */
const LEAD_HEIGHTS_PX = { above: 8, line: 40 };
const listFor = createListCache(estimateHeight);
const NO_BRANCHES = { active_branch: "", branches: {} };
const versionsFor = memoizeByParts(
  (shape: Parameters<typeof versionsOf>[0]) => [shape.branches, shape.active_branch],
  versionsOf,
);

export function Transcript({ id }: { id: string }) {
  const t = useTexts("chat");
  const { store } = useAppServices();
  const messages = useSelector((state) => visibleMessages(state, id).messages, [id]);
  const { sending, streaming, hasOlder, isLoading } = useSelector(
    (state) => {
      const { sending, streaming, hasOlder } = visibleMessages(state, id);
      return { sending, streaming, hasOlder, isLoading: state.contexts[id]?.wantsOlder ?? false };
    },
    [id],
  );
  const buildRows = useMemo(() => createRowBuilder(), [id]);
  const stored = useMemo(() => buildRows(messages), [buildRows, messages]);
  const trailing = useMemo(() => trailingRows(sending, streaming), [sending, streaming]);
  const lastSentKey = sending.at(-1)?.key ?? null;
  const { list, ranges, status, element } = useVirtualList(listFor, {
    name: id,
    stored,
    trailing,
    leadHeight: LEAD_HEIGHTS_PX.above + (hasOlder ? LEAD_HEIGHTS_PX.line : 0),
    lastSentKey,
  });
  useAnswerAnnouncement(id, stored);
  useCopyShortcuts(id);
  const needsOlderForTarget = useScrollTarget(id, stored, hasOlder, (row) => list.scroller.scrollTo(row, 8));
  const messageVersions = useSelector((state) => versionsFor(state.contexts[id]?.view.value ?? NO_BRANCHES), [id]);
  const versions = useMemo(() => versionsByRow(stored, messageVersions), [stored, messageVersions]);

  const wantsOlder = hasOlder && !isLoading && (status.isNearStart || needsOlderForTarget);
  useEffect(() => {
    if (wantsOlder) store.dispatch({ type: "older", id });
  }, [wantsOlder, messages.length, id, store]); // more than one page may arrive within a frame

  const children: ReactNode[] = [];
  let renderedTo = 0;
  for (const [from, to] of ranges) {
    children.push(
      <div
        key={`gap ${renderedTo === 0 ? "" : from}`}
        style={{ height: list.heights.top(from) - list.heights.top(renderedTo) }}
      />,
    );
    for (let index = from; index < to; index++) {
      const row = list.heights.rowAt(index);
      if (row === undefined) continue;
      children.push(
        <RowBox key={row.id} id={row.id} list={list}>
          <RowView row={row} context={id} versions={versions.get(row.id)} />
        </RowBox>,
      );
    }
    renderedTo = to;
  }
  children.push(<div key="gap at the end" style={{ height: list.heights.total - list.heights.top(renderedTo) }} />);
  const scrollToEnd = () => {
    list.scroller.scrollToEnd();
    element.current?.focus({ preventScroll: true }); // the focused button disappears
  };
  return (
    <div className="transcript-frame">
      <div
        className="transcript"
        ref={element}
        role="log"
        aria-live="off"
        aria-busy={streaming.length > 0}
        aria-label={t("transcript")}
        tabIndex={0}
      >
        {hasOlder && <p className="transcript-lead">{t("older")}</p>}
        {children}
      </div>
      <LastUserMessage rows={stored} firstVisible={status.first} onJump={(row) => list.scroller.scrollTo(row, 8)} />
      {status.isAway && (
        <Button kind="small" icon="down" extraClass="transcript-down" onClick={scrollToEnd}>
          {status.newRows > 0 ? t("newBelow", { n: status.newRows }) : t("toEnd")}
        </Button>
      )}
    </div>
  );
}
