/** A diff in one column, or in two columns on a wide screen. */
import { useMemo } from "react";
import { useTexts } from "../../i18n/texts";
import { CopyAll } from "../tool-calls/CopyAll";
import { ForeignText } from "../../ui/ForeignText";
import { type DiffLine, countLines, parseDiff, sideBySide } from "./unifiedDiff";
import { Lines } from "../tool-calls/Lines";
import { useMedia } from "../../app/mediaQuery";
import "./diff.css";

const WIDE = "(min-width: 1100px)";
const SIGNS = { add: "+", remove: "−", same: " ", file: "", hunk: "", note: "" } as const;

interface Props {
  text: string;
  /** The path of the changed file, in place of the two lines that name the file; null for other diffs. */
  path: string | null;
  /** The heading of a diff without a path. */
  title: string;
}

export function DiffView({ text, path, title }: Props) {
  const t = useTexts("approvals");
  const lines = useMemo(
    () => (text === "" ? [] : (parseDiff(text) ?? [])).filter(({ kind }) => path === null || kind !== "file"),
    [text, path],
  );
  const { added, removed, isCut } = countLines(lines);
  const isWide = useMedia(WIDE);
  // A new file has only one side.
  const isSplit = isWide && added > 0 && removed > 0;
  return (
    <div className="diff">
      <div className="diff-head">
        {path === null ? (
          <span className="diff-path">{title}</span>
        ) : (
          <code className="diff-path">
            <ForeignText text={path} isPath />
          </code>
        )}
        <span className="diff-added" title={t("added", { n: added })} aria-label={t("added", { n: added })}>
          +{added}
        </span>
        <span className="diff-removed" title={t("removed", { n: removed })} aria-label={t("removed", { n: removed })}>
          −{removed}
        </span>
        {isCut && <span className="soft">…</span>}
        <CopyAll text={text} />
      </div>
      {lines.length === 0 && <p className="diff-none soft small">{t("noChange")}</p>}
      {lines.length > 0 && (isSplit ? <Split lines={lines} label={title} /> : <Unified lines={lines} label={title} />)}
    </div>
  );
}

function Unified({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  const hasOld = lines.some((line) => line.old !== null && line.old > 0);
  return (
    <Lines
      count={lines.length}
      label={label}
      extraClass="diff-lines"
      renderLine={(index) => {
        const line = lines[index];
        if (line === undefined) return null;
        return (
          <div className={`diff-line is-${line.kind}`}>
            {hasOld && (
              <span className="diff-number" aria-hidden="true">
                {line.old}
              </span>
            )}
            <span className="diff-number" aria-hidden="true">
              {line.new}
            </span>
            <Content line={line} />
          </div>
        );
      }}
    />
  );
}

function Split({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  const rows = useMemo(() => sideBySide(lines), [lines]);
  return (
    <Lines
      count={rows.length}
      label={label}
      extraClass="diff-lines"
      renderLine={(index) => {
        const row = rows[index];
        if (row === undefined) return null;
        if ("both" in row) {
          return (
            <div className={`diff-line is-${row.both.kind}`}>
              <Content line={row.both} />
            </div>
          );
        }
        return (
          <div className="diff-sides">
            <Side line={row.left} number={row.left?.old ?? null} />
            <Side line={row.right} number={row.right?.new ?? null} />
          </div>
        );
      }}
    />
  );
}

function Side({ line, number }: { line: DiffLine | null; number: number | null }) {
  if (line === null) return <div className="diff-line is-nothing" />;
  return (
    <div className={`diff-line is-${line.kind}`}>
      <span className="diff-number" aria-hidden="true">
        {number}
      </span>
      <Content line={line} />
    </div>
  );
}

function Content({ line }: { line: DiffLine }) {
  return (
    <>
      <span className="diff-sign">{SIGNS[line.kind]}</span>
      <span className="diff-text">
        <ForeignText text={line.text} />
      </span>
    </>
  );
}
