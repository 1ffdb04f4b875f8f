/** Grows a textarea with its text in browsers without `field-sizing`. */
import { type RefObject, useLayoutEffect } from "react";

export function useAutoGrow(textarea: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const area = textarea.current;
    if (area === null || CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }, [textarea, text]);
}
