/** A code block with its language, buttons to copy, wrap and download, and highlighting once the code is complete. */
import { useMemo, useState, type ReactElement } from "react";
import { visibleName } from "../../../ui/safeText";
import { saveText } from "../../../ui/clipboard";
import { codePreview } from "./codePreview";
import { CopyTextButton } from "./CopyTextButton";
import { languageOf } from "./highlight/languages";
import { useHighlightedRuns } from "./highlight/client";
import { useScrollRegion } from "./useScrollRegion";
import { useMarkdownContext } from "./labels";

interface Props {
  readonly code: string;
  /** The info string after the opening fence. */
  readonly info: string;
  readonly isOpen: boolean;
}

export function CodeBlock({ code, info, isOpen }: Props): ReactElement {
  const { labels } = useMarkdownContext();
  const [isWrapped, setWrapped] = useState(false);
  const [isExpanded, setExpanded] = useState(false);
  const language = languageOf(info);
  const label = visibleName(info.split(/[\s,{:]/, 1)[0] ?? "") || labels.code;
  const [ref, region] = useScrollRegion(label);
  const preview = useMemo(() => codePreview(code, isExpanded), [code, isExpanded]);
  const runs = useHighlightedRuns(preview.text, isOpen ? undefined : language?.name);
  return (
    <div className="md-code">
      <div className="md-bar">
        <span className="md-language">{label}</span>
        <button type="button" aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
          {labels.wrap}
        </button>
        <button type="button" onClick={() => saveText(code, `code.${language?.extension ?? "txt"}`)}>
          {labels.download}
        </button>
        <CopyTextButton name={labels.copy} text={() => code} />
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
          {labels.showAll.replace("{n}", preview.lines.toLocaleString())}
        </button>
      )}
    </div>
  );
}
