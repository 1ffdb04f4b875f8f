/** Shows the number of pending items in the document title while the tab is hidden. */
import { useEffect, useState } from "react";
import { useSelector } from "../../app/appServices";
import { useTitlePart } from "../../app/documentTitle";
import { countWaiting } from "./pendingCalls";

export function useTitleBadge(): void {
  const pendingCount = useSelector(countWaiting);
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const update = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  useTitlePart("badge", isHidden && pendingCount > 0 ? `(${pendingCount}) ⏳` : "");
}
