/** The grace period after a change of what can be clicked. */
import { useEffect, useState } from "react";
import { GRACE_MS } from "../../app/focusPolicy";
import { useAppServices } from "../../app/appServices";

/** Whether the content has been unchanged for the grace period. Before that, a click may be meant for the old content. */
export function useIsStable(content: string): boolean {
  const { environment } = useAppServices();
  const [stableContent, setStableContent] = useState("");
  useEffect(() => environment.schedule(GRACE_MS, () => setStableContent(content)), [environment, content]);
  return stableContent === content;
}
