/** A list of lines, virtualized if it is long. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { scrollParentOf } from "../read-progress/visibility";
import { useMustBeRead, useReadBox } from "../read-progress/readProgress";
import { MAX_UNVIRTUALIZED_LINES } from "./textPreview";

interface Props {
  count: number;
  label: string;
  extraClass?: string;
  renderLine(index: number): ReactNode;
  /** The line number of a row, if a line may have several rows. */
  lineOf?: (row: number) => number;
}

const LINE_HEIGHT_PX = 18;
const identity = (row: number) => row;

/** Inside a `ReadTracker`, the lines scroll with the content around them; otherwise they have their own scroll bar. */
export function Lines(props: Props) {
  return props.count > MAX_UNVIRTUALIZED_LINES ? <WindowedLines {...props} /> : <AllLines {...props} />;
}

function useClasses(extra: string): string {
  return `lines ${useMustBeRead() ? "" : "is-box"} ${extra}`;
}

function AllLines({ count, label, extraClass = "", renderLine, lineOf = identity }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useReadBox(box, count, lineOf);
  return (
    <div className={useClasses(extraClass)} ref={box} role="region" aria-label={label} tabIndex={0}>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} data-index={index}>
          {renderLine(index)}
        </div>
      ))}
    </div>
  );
}

function WindowedLines({ count, label, extraClass = "", renderLine, lineOf = identity }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const hasOwnScroller = !useMustBeRead();
  const getScrollElement = () => (hasOwnScroller ? box.current : scrollParentOf(box.current));
  const scrollMargin = useMargin(content, getScrollElement);
  const list = useVirtualizer({
    count,
    getScrollElement,
    scrollMargin,
    estimateSize: () => LINE_HEIGHT_PX,
    overscan: 20,
  });
  useReadBox(box, count, lineOf, (row) => list.scrollToIndex(row, { align: "start" }));
  return (
    <div className={`${useClasses(extraClass)} is-windowed`} ref={box} role="region" aria-label={label} tabIndex={0}>
      <div className="lines-all" ref={content} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => (
          <div
            key={item.key}
            ref={list.measureElement}
            data-index={item.index}
            className="lines-row"
            style={{ transform: `translateY(${item.start - scrollMargin}px)` }}
          >
            {renderLine(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The distance of an element from the start of its scrolling ancestor, measured after each render. */
function useMargin(element: RefObject<HTMLElement | null>, getScrollElement: () => HTMLElement | null): number {
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const scroller = getScrollElement();
    if (scroller === null || element.current === null) return;
    const offsetInWindow = element.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    const measured = offsetInWindow - scroller.clientTop + scroller.scrollTop;
    if (Math.abs(measured - margin) > 1) setMargin(measured);
  });
  return margin;
}
