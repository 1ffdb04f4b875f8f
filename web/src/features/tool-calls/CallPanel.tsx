/** All effects of a call: risks, diff or command, and every argument. */
import { useState } from "react";
import type { CallView } from "../../api/schema";
import { useLanguage } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { exactName, visibleName } from "../../ui/safeText";
import { DiffView } from "../diff/DiffView";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import { TextValue } from "./TextValue";
import { argumentsOf, contentOf, isPath, risksOf, relativePath } from "./callText";
import "./call-view.css";

interface Props {
  call: CallView;
  workspace: string | null;
  /** Whether the call was decided: warnings are hidden then. */
  isDecided?: boolean;
}

export function CallPanel({ call, workspace, isDecided = false }: Props) {
  const t = useTexts("approvals");
  const content = contentOf(call);
  // The first path is the argument itself, the others are targets of symbolic links.
  const linkTargets = (call.touches ?? []).slice(1);
  return (
    <Lookalikes value={call.lookalikes ?? ""}>
      <div className="call-view">
        {!isDecided && <Risks call={call} />}
        {content?.kind === "argument" && (
          <TextValue text={content.text} label={visibleName(content.name)} isCommand={call.tool === "execute"} />
        )}
        {content?.kind === "diff" && <DiffView text={content.text} path={pathOf(call, workspace)} />}
        {content?.kind === "text" && <TextValue text={content.text} label={t("wholeText")} />}
        {!isDecided && call.may_change === true && <p className="soft small">{t("mayChange")}</p>}
        {linkTargets.length > 0 && (
          <p className="soft small">
            <ForeignText
              text={t("leadsTo", {
                paths: linkTargets.map((path) => exactName(relativePath(path, workspace))).join(", "),
              })}
            />
          </p>
        )}
        <Arguments call={call} workspace={workspace} />
      </div>
    </Lookalikes>
  );
}

function Risks({ call }: { call: CallView }) {
  const risks = risksOf(call, useLanguage());
  if (risks.length === 0) return null;
  return (
    <p className="risk">
      <Icon name="warning" />
      <span>
        <ForeignText text={risks.join(" ")} />
      </span>
    </p>
  );
}

/** The arguments of a call. Next to a diff, only short arguments are listed at first: the diff shows the others. */
function Arguments({ call, workspace }: Props) {
  const t = useTexts("approvals");
  const content = contentOf(call);
  const [isRaw, setRaw] = useState(false);
  const [isAll, setAll] = useState(false);
  const all = Object.entries(argumentsOf(call));
  const isBrief = content?.kind === "diff" && !(call.dangerous ?? []).includes("not shown whole");
  const shown = all.filter(([name, value]) => {
    if (isAll) return true;
    if (content?.kind === "argument") return name !== content.name;
    return !isBrief || (!isLong(value) && !SHOWN_IN_DIFF.has(name));
  });
  return (
    <div className="call-arguments">
      {isRaw ? (
        <TextValue text={JSON.stringify(call.arguments, null, 2)} label={t("rawJson")} />
      ) : (
        shown.length > 0 && (
          <dl className="arguments">
            {shown.map(([name, value]) => (
              <div className="argument" key={name}>
                <dt>
                  <ForeignText text={visibleName(name)} />
                </dt>
                <dd>
                  <Value name={name} value={value} workspace={workspace} />
                </dd>
              </div>
            ))}
          </dl>
        )
      )}
      <div className="call-more">
        {!isRaw && (isAll || shown.length < all.length) && content?.kind !== "argument" && (
          <Button kind={["quiet", "small"]} aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? t("showLess") : t("allArguments")}
          </Button>
        )}
        {all.length > 0 && (
          <Button kind={["quiet", "small"]} aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            {t("rawJson")}
          </Button>
        )}
        {all.length === 0 && <span className="soft small">{t("noArguments")}</span>}
      </div>
    </div>
  );
}

function pathOf(call: CallView, workspace: string | null): string {
  const { path } = argumentsOf(call);
  return typeof path === "string" ? relativePath(path, workspace) : "";
}

/** Arguments that the diff view displays. */
const SHOWN_IN_DIFF = new Set(["path", "content", "source"]);
const MAX_INLINE_CHARACTERS = 120;

function isLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > MAX_INLINE_CHARACTERS || value.includes("\n");
  return typeof value === "object" && value !== null;
}

function Value({ name, value, workspace }: { name: string; value: unknown; workspace: string | null }) {
  if (typeof value === "string" && !isLong(value)) {
    return (
      <code className="value">
        <ForeignText text={isPath(name) ? relativePath(value, workspace) : value} isPath={isPath(name)} />
      </code>
    );
  }
  if (typeof value === "string") return <TextValue text={value} label={visibleName(name)} />;
  if (!isLong(value)) return <code className="value">{String(value)}</code>;
  return <TextValue text={JSON.stringify(value, null, 2)} label={visibleName(name)} />;
}
