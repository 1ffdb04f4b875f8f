/** Formats file sizes. */
const UNITS = ["B", "kB", "MB", "GB"] as const;

export function formatFileSize(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = bytes / 1024 ** step;
  return `${number >= 10 || step === 0 ? Math.round(number) : number.toFixed(1)} ${UNITS[step] ?? ""}`;
}
