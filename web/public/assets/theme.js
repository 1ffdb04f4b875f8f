// Before anything is painted: the looks and the language that were chosen here last, else what the browser prefers.
const page = document.documentElement;
let chosen = {};
try {
  chosen = JSON.parse(localStorage.getItem("pilothouse-looks") ?? "{}");
} catch {
  // it cannot be read: as if nothing was chosen
}
page.lang = chosen.language ?? (navigator.language.startsWith("zh") ? "zh" : "en");
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
page.dataset.theme = ["light", "dark"].includes(chosen.theme) ? chosen.theme : isDark ? "dark" : "light";
if (chosen.fontSize >= 12 && chosen.fontSize <= 20) page.style.fontSize = `${chosen.fontSize}px`;
