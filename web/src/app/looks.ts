/** Theme, size of type and language on the document, from the preferences; noted here for the next start. */
import { useEffect } from "react";
import { preferencesOf } from "../store/selectors";
import { useLanguage, useSlice } from "./page";

export const LOOKS_KEY = "pilothouse-looks";

export function useLooks(): void {
  const preferences = useSlice(preferencesOf);
  const language = useLanguage();
  const theme = preferences?.theme ?? "system";
  const fontSize = preferences?.font_size;
  const isKnown = preferences !== undefined;

  useEffect(() => {
    if (!isKnown) return;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "system" ? (system.matches ? "dark" : "light") : theme;
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [isKnown, theme]);

  useEffect(() => {
    document.documentElement.lang = language;
    if (fontSize !== undefined) document.documentElement.style.fontSize = `${fontSize}px`;
    if (isKnown) keep(LOOKS_KEY, JSON.stringify({ theme, fontSize, language: preferences.language ?? undefined }));
  }, [isKnown, theme, fontSize, language, preferences?.language]);
}

/** Local storage may be full or forbidden: then it is not kept, and nothing else happens. */
export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // not kept
  }
}

export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
