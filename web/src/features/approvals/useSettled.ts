// The grace after a change of what can be clicked.
import { useEffect, useState } from "react";
import { GRACE } from "../../app/focusPolicy";
import { usePage } from "../../app/page";

/** Whether what waits stands where it has stood for a while. Until then, a click may be meant for what stood there before. */
export function useSettled(what: string): boolean {
  const { ambient } = usePage();
  const [settled, setSettled] = useState("");
  useEffect(() => ambient.later(GRACE, () => setSettled(what)), [ambient, what]);
  return settled === what;
}
