/** The grace period after clickable content has changed. */
import { useEffect, useState } from "react";
import { GRACE_MS } from "../../app/focusPolicy";
import { useAppServices } from "../../app/appServices";

/**
 * Whether the content has been unchanged for the grace period. An earlier click may have been aimed at the old content.
 */
export function useIsStable(content: string): boolean {
  const { environment } = useAppServices();
  const [stableContent, setStableContent] = useState("");
  useEffect(() => environment.schedule(GRACE_MS, () => setStableContent(content)), [environment, content]);
  return stableContent === content;
}
