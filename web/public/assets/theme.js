// Runs before the first paint: applies the stored theme, font size and language, or the browser's preferences.
const root = document.documentElement;
let stored = {};
try {
  stored = JSON.parse(localStorage.getItem("pilothouse-looks") ?? "{}");
} catch {
  // the storage is disabled or invalid: use the defaults
}
root.lang = stored.language ?? (navigator.language.startsWith("zh") ? "zh" : "en");
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
root.dataset.theme = ["light", "dark"].includes(stored.theme) ? stored.theme : isDark ? "dark" : "light";
if (stored.fontSize >= 12 && stored.fontSize <= 20) root.style.fontSize = `${stored.fontSize}px`;
