/** A text value: its beginning, expandable to a scrolling box. Inside a `ReadTracker`, always complete. */
import { useMemo, useState } from "react";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { CopyAll } from "./CopyAll";
import { ForeignText } from "../../ui/ForeignText";
import { Lines } from "./Lines";
import { useMustBeRead } from "../read-progress/readProgress";
import { linePieces, previewOf, formatTextSize } from "./textPreview";

interface Props {
  text: string;
  /** The name for screen readers. */
  label: string;
  isCommand?: boolean;
}

export function TextValue({ text, label, isCommand = false }: Props) {
  const t = useTexts("approvals");
  const [isExpanded, setExpanded] = useState(false);
  const mustBeRead = useMustBeRead();
  const preview = useMemo(() => previewOf(text), [text]);
  const isLong = preview.rest !== "";
  const isWhole = isLong && (mustBeRead || isExpanded);
  const size = { n: preview.lines, size: formatTextSize(preview.bytes) };
  return (
    <div className={isCommand ? "text-value is-command" : "text-value"}>
      {isWhole ? (
        <WholeText text={text} label={label} />
      ) : (
        <pre className="text-head">
          <ForeignText text={preview.head} />
        </pre>
      )}
      <div className="text-foot">
        {isLong && mustBeRead && <span className="text-size soft small">{t("wholeSize", size)}</span>}
        {isLong && !mustBeRead && (
          <Button kind={["quiet", "small"]} aria-expanded={isWhole} onClick={() => setExpanded(!isExpanded)}>
            {isWhole ? t("showLess") : t("showAll", size)}
          </Button>
        )}
        <CopyAll text={text} />
      </div>
    </div>
  );
}

/** A complete text with line numbers, so that no line can pose as a part of the interface. */
export function WholeText({ text, label }: { text: string; label: string }) {
  const pieces = useMemo(() => linePieces(text), [text]);
  return (
    <Lines
      count={pieces.length}
      label={label}
      lineOf={(row) => pieces[row]?.line ?? 0}
      renderLine={(index) => (
        <div className="line">
          <span className="line-number" aria-hidden="true">
            {pieces[index]?.beginsLine === true && pieces[index].line}
          </span>
          <span className="line-text">
            <ForeignText text={pieces[index]?.text ?? ""} />
          </span>
        </div>
      )}
    />
  );
}
