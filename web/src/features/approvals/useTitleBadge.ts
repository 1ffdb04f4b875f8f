/** While the page is out of sight and something waits, its title says so. */
import { useEffect, useState } from "react";
import { useSlice } from "../../app/page";
import { useTitlePart } from "../../app/title";
import { waitingEverywhere } from "./waiting";

export function useTitleBadge(): void {
  const waiting = useSlice(waitingEverywhere);
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  useTitlePart("badge", isHidden && waiting > 0 ? `(${waiting}) ⏳` : "");
}
