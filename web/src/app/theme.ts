/** Applies theme, font size and language to the document, and stores them for the next visit. */
import { useEffect } from "react";
import { preferencesOf } from "../store/selectors";
import { useLanguage, useSelector } from "./appServices";
import { writeStorage } from "./storage";

const THEME_KEY = "pilothouse-looks";

export function useTheme(): void {
  const preferences = useSelector(preferencesOf);
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
    if (isKnown)
      writeStorage(THEME_KEY, JSON.stringify({ theme, fontSize, language: preferences.language ?? undefined }));
  }, [isKnown, theme, fontSize, language, preferences?.language]);
}
