/** Lines in the place of what is being loaded. */
import { useWords } from "../../i18n/words";
import "./skeleton.css";

const WORDS = { loading: ["Loading…", "加载中……"] } as const;

export function Skeleton({ lines }: { lines: number }) {
  const t = useWords(WORDS);
  return (
    <div className="skeleton">
      <span className="hidden-visually">{t("loading")}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="skeleton-line" style={{ width: `${92 - ((index * 37) % 45)}%` }} />
      ))}
    </div>
  );
}
