/** The conversation: a long list of which only what is seen is drawn. It follows its end only for who is at its end. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { visible } from "../../store/selectors";
import { RowView } from "./RowView";
import { rowsAtEnd, rowsOf } from "./rows";
import { WORDS } from "./words";
import "./transcript.css";

const GUESSED_HEIGHT = 110;
const NEAR_END = 80;
const NEAR_START = 600;

export function Transcript({ id }: { id: string }) {
  const t = useWords(WORDS);
  const { store } = usePage();
  const messages = useSlice((state) => visible(state, id).messages, [id]);
  const end = useSlice(
    (state) => {
      const { sending, writing } = visible(state, id);
      return { sending, writing };
    },
    [id],
  );
  const hasOlder = useSlice((state) => visible(state, id).hasOlder, [id]);
  const stored = useMemo(() => rowsOf(messages), [messages]);
  const rows = useMemo(() => [...stored, ...rowsAtEnd(end.sending, end.writing)], [stored, end]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESSED_HEIGHT,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 6,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    initialOffset: Number.MAX_SAFE_INTEGER,
  });
  const offset = list.scrollOffset ?? 0;
  useEffect(() => {
    if (hasOlder && offset < NEAR_START) store.dispatch({ type: "older", id });
  }, [hasOlder, offset, id, store, rows.length]);
  return (
    <div className="transcript" ref={scroller} role="log" aria-live="off" aria-label={t("transcript")} tabIndex={0}>
      <div className="transcript-list" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index];
          return (
            row && (
              <div
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                className="transcript-row"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <RowView row={row} context={id} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}
