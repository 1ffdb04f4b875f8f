/** The conversation: a long list of which only what is seen is drawn. It follows its end only for who is at its end. */
import { type ReactNode, useEffect, useMemo } from "react";
import { usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { visible } from "../../store/selectors";
import { once } from "../../store/share";
import { Button } from "../../ui/Button";
import { versionsByLine, versionsOf } from "../branches/versions";
import { LastSaid } from "./LastSaid";
import { RowView } from "./RowView";
import { RowBox } from "./list/RowBox";
import { lists, useList } from "./list/useList";
import { heightOf, rowMaker, rowsAtEnd } from "./rows";
import { useCopyKeys } from "./useCopyKeys";
import { useFinished } from "./useFinished";
import { useToShow } from "./useToShow";
import { WORDS } from "./words";
import "./transcript.css";

/** What stands above the first message, as the style says: a line while there are older ones. */
const LEAD = { above: 8, line: 40 };
const listOf = lists(heightOf);
const NO_BRANCHES = { active_branch: "", branches: {} };
const placesOf = once((shape: Parameters<typeof versionsOf>[0]) => [shape.branches, shape.active_branch], versionsOf);

export function Transcript({ id }: { id: string }) {
  const t = useWords(WORDS);
  const { store } = usePage();
  const messages = useSlice((state) => visible(state, id).messages, [id]);
  const { sending, writing, hasOlder, isLoading } = useSlice(
    (state) => {
      const { sending, writing, hasOlder } = visible(state, id);
      return { sending, writing, hasOlder, isLoading: state.contexts[id]?.wantsOlder ?? false };
    },
    [id],
  );
  const make = useMemo(() => rowMaker(), [id]);
  const stored = useMemo(() => make(messages), [make, messages]);
  const end = useMemo(() => rowsAtEnd(sending, writing), [sending, writing]);
  const sent = sending.at(-1)?.key ?? null;
  const { list, spans, status, element } = useList(listOf, {
    name: id,
    stored,
    end,
    lead: LEAD.above + (hasOlder ? LEAD.line : 0),
    sent,
  });
  useFinished(id, stored);
  useCopyKeys(id);
  const isSought = useToShow(id, stored, hasOlder, (row) => list.scroller.show(row, 8));
  const places = useSlice((state) => placesOf(state.contexts[id]?.shape.value ?? NO_BRANCHES), [id]);
  const versions = useMemo(() => versionsByLine(stored, places), [stored, places]);

  const wantsOlder = hasOlder && !isLoading && (status.isNearStart || isSought);
  useEffect(() => {
    if (wantsOlder) store.dispatch({ type: "older", id });
  }, [wantsOlder, messages.length, id, store]); // a page may come and another be wanted within one frame

  const drawn: ReactNode[] = [];
  let reached = 0;
  for (const [from, to] of spans) {
    drawn.push(
      <div
        key={`gap ${reached === 0 ? "" : from}`}
        style={{ height: list.heights.top(from) - list.heights.top(reached) }}
      />,
    );
    for (let index = from; index < to; index++) {
      const row = list.heights.rowAt(index);
      if (row === undefined) continue;
      drawn.push(
        <RowBox key={row.id} id={row.id} list={list}>
          <RowView row={row} context={id} versions={versions.get(row.id)} />
        </RowBox>,
      );
    }
    reached = to;
  }
  drawn.push(<div key="gap at the end" style={{ height: list.heights.total - list.heights.top(reached) }} />);
  const toEnd = () => {
    list.scroller.toEnd();
    element.current?.focus({ preventScroll: true }); // the button goes
  };
  return (
    <div className="transcript-frame">
      <div
        className="transcript"
        ref={element}
        role="log"
        aria-live="off"
        aria-busy={writing.length > 0}
        aria-label={t("transcript")}
        tabIndex={0}
      >
        {hasOlder && <p className="transcript-lead">{t("older")}</p>}
        {drawn}
      </div>
      <LastSaid rows={stored} first={status.first} onGo={(row) => list.scroller.show(row, 8)} />
      {status.isAway && (
        <Button kind="small" icon="down" extraClass="transcript-down" onClick={toEnd}>
          {status.newRows > 0 ? t("newBelow", { n: status.newRows }) : t("toEnd")}
        </Button>
      )}
    </div>
  );
}
