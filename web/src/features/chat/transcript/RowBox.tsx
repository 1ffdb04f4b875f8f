/** The box of a row, registered with the virtual list. */
import { type ReactNode, useLayoutEffect, useRef } from "react";
import type { VirtualList } from "./virtualList";

export function RowBox<T extends { readonly id: string }>({
  id,
  list,
  children,
}: {
  id: string;
  list: VirtualList<T>;
  children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (box.current === null ? undefined : list.attachRow(id, box.current)), [id, list]);
  return (
    <div className="transcript-row" data-row={id} ref={box}>
      {children}
    </div>
  );
}
