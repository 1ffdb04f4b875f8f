/** All effects of a call: risks, diff or command, and every argument. */
import { useState } from "react";
import type { CallView } from "../../api/schema";
import { useLanguage } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { exactName, exactPath, visibleName } from "../../ui/safeText";
import { DiffView } from "../diff/DiffView";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import { TextValue } from "./TextValue";
import {
  argumentsBeside,
  argumentsInFileChange,
  argumentsOf,
  contentOf,
  isPath,
  risksOf,
  relativePath,
} from "./callText";
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
        {content?.kind === "diff" && (
          <DiffView
            text={content.text}
            path={content.of === "file" ? pathOf(call, workspace) : null}
            title={t(content.of === "definition" ? "definitionChange" : content.of === "file" ? "change" : "wholeText")}
          />
        )}
        {content?.kind === "text" && <TextValue text={content.text} label={t("wholeText")} />}
        {call.origin && <p className="soft small">{t("proposedBy", { origin: visibleName(call.origin) })}</p>}
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

/** The arguments of a call. Those that the content above shows in full are listed on request. */
function Arguments({ call, workspace }: Props) {
  const t = useTexts("approvals");
  const content = contentOf(call);
  const [isRaw, setRaw] = useState(false);
  const [isAll, setAll] = useState(false);
  const all = Object.entries(argumentsOf(call));
  const shown = isAll ? all : argumentsBeside(call, content);
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
                  <ForeignText text={exactName(name)} />
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

/** The path of the changed file; null if it is listed among the arguments. */
function pathOf(call: CallView, workspace: string | null): string | null {
  const { path } = argumentsOf(call);
  return typeof path === "string" && argumentsInFileChange(call).includes("path")
    ? relativePath(path, workspace)
    : null;
}

const MAX_INLINE_CHARACTERS = 120;
/** No system has longer paths. */
const MAX_PATH_CHARACTERS = 4_096;

function isLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > MAX_INLINE_CHARACTERS || value.includes("\n");
  return typeof value === "object" && value !== null;
}

function Value({ name, value, workspace }: { name: string; value: unknown; workspace: string | null }) {
  if (typeof value === "string" && isPath(name)) {
    const path = relativePath(value, workspace);
    if (path.length > MAX_PATH_CHARACTERS) return <TextValue text={exactPath(path)} label={visibleName(name)} />;
    return (
      <code className="value">
        <ForeignText text={path} isPath />
      </code>
    );
  }
  if (typeof value === "string" && !isLong(value)) {
    return (
      <code className="value">
        <ForeignText text={value} />
      </code>
    );
  }
  if (typeof value === "string") return <TextValue text={value} label={visibleName(name)} />;
  if (!isLong(value)) return <code className="value">{String(value)}</code>;
  return <TextValue text={JSON.stringify(value, null, 2)} label={visibleName(name)} />;
}
