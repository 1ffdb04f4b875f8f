/** Placeholder lines while content loads. */
import { useTexts } from "../i18n/texts";
import "./skeleton.css";

export function Skeleton({ lines }: { lines: number }) {
  const t = useTexts("ui");
  return (
    <div className="skeleton">
      <span className="hidden-visually">{t("loading")}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="skeleton-line" style={{ width: `${92 - ((index * 37) % 45)}%` }} />
      ))}
    </div>
  );
}
