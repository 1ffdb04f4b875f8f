/** The place of one row in the list. */
import { type ReactNode, useLayoutEffect, useRef } from "react";
import type { List } from "./list";

export function RowBox<T extends { readonly id: string }>({
  id,
  list,
  children,
}: {
  id: string;
  list: List<T>;
  children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (box.current === null ? undefined : list.drawn(id, box.current)), [id, list]);
  return (
    <div className="transcript-row" data-row={id} ref={box}>
      {children}
    </div>
  );
}
