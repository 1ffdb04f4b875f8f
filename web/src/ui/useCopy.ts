/** Copies something and says so for a moment. */
import { useEffect, useRef, useState } from "react";

const SAID_FOR = 1_500;

export function useCopy(): { isCopied: boolean; copy(text: string): Promise<void> } {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    isCopied,
    async copy(text) {
      await writeText(text);
      setCopied(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setCopied(false), SAID_FOR);
    },
  };
}

/** Where a page is not served securely (a plain address in the local network), there is only the old way. */
async function writeText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden-visually";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
