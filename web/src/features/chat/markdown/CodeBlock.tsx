/** A code block with its language, buttons to copy, wrap and download, and highlighting once the code is complete. */
import { useMemo, useState, type ReactElement } from "react";
import { visibleName } from "../../../ui/safeText";
import { saveText } from "../../../ui/clipboard";
import { codePreview } from "./codePreview";
import { CopyButton } from "./CopyButton";
import { languageOf } from "./highlight/languages";
import { useHighlightedRuns } from "./highlight/client";
import { useScrollRegion } from "./useScrollRegion";
import { useAround } from "./words";

interface Props {
  readonly code: string;
  /** The info string after the opening fence. */
  readonly info: string;
  readonly isOpen: boolean;
}

export function CodeBlock({ code, info, isOpen }: Props): ReactElement {
  const { words } = useAround();
  const [isWrapped, setWrapped] = useState(false);
  const [isExpanded, setExpanded] = useState(false);
  const language = languageOf(info);
  const label = visibleName(info.split(/[\s,{:]/, 1)[0] ?? "") || words.code;
  const [ref, region] = useScrollRegion(label);
  const preview = useMemo(() => codePreview(code, isExpanded), [code, isExpanded]);
  const runs = useHighlightedRuns(preview.text, isOpen ? undefined : language?.name);
  return (
    <div className="md-code">
      <div className="md-bar">
        <span className="md-language">{label}</span>
        <button type="button" aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
          {words.wrap}
        </button>
        <button type="button" onClick={() => saveText(code, `code.${language?.ending ?? "txt"}`)}>
          {words.download}
        </button>
        <CopyButton name={words.copy} text={() => code} />
      </div>
      <div className={isWrapped ? "md-code-scroll md-wrapped" : "md-code-scroll"} ref={ref} {...region}>
        <pre>
          <code>
            {runs === undefined
              ? preview.text
              : runs.map(([text, kind], index) =>
                  kind === "" ? (
                    text
                  ) : (
                    <span key={index} className={`md-${kind}`}>
                      {text}
                    </span>
                  ),
                )}
          </code>
        </pre>
      </div>
      {preview.isCut && (
        <button type="button" className="md-show-all" onClick={() => setExpanded(true)}>
          {words.showAll.replace("{n}", preview.lines.toLocaleString())}
        </button>
      )}
    </div>
  );
}
