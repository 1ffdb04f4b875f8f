/** Many lines in a box that scrolls. Of very many, only those that are seen are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import { EndOfText } from "./readProgress";
import { WINDOWED } from "./texts";

interface Given {
  count: number;
  label: string;
  extraClass?: string;
  drawLine(index: number): ReactNode;
}

const LINE_HEIGHT = 20;

export function Lines({ count, label, extraClass = "", drawLine }: Given) {
  if (count > WINDOWED)
    return <WindowedLines count={count} label={label} extraClass={extraClass} drawLine={drawLine} />;
  return (
    <div className={`lines ${extraClass}`} role="region" aria-label={label} tabIndex={0}>
      {Array.from({ length: count }, (_, index) => (
        <div key={index}>{drawLine(index)}</div>
      ))}
      <EndOfText />
    </div>
  );
}

function WindowedLines({ count, label, extraClass, drawLine }: Given) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div className={`lines is-windowed ${extraClass}`} ref={scroller} role="region" aria-label={label} tabIndex={0}>
      <div className="lines-all" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => (
          <div
            key={item.key}
            ref={list.measureElement}
            data-index={item.index}
            className="lines-one"
            style={{ transform: `translateY(${item.start}px)` }}
          >
            {drawLine(item.index)}
          </div>
        ))}
        <EndOfText />
      </div>
    </div>
  );
}
