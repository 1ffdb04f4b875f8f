/** All that a call would do: its risks in words, the change or the command, every argument. Nothing is out of reach. */
import { useState } from "react";
import type { CallShape } from "../../api/schema";
import { useLanguage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { exactName, visibleName } from "../../ui/names";
import { DiffView } from "./DiffView";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import { TextValue } from "./TextValue";
import { argumentsOf, heartOf, isPath, risksOf, withinWorkspace } from "./tools";
import { WORDS } from "./words";
import "./call-view.css";

interface Given {
  call: CallShape;
  workspace: string | null;
  /** It is decided: what might have been risky needs no warning any more. */
  isPast?: boolean;
}

export function CallView({ call, workspace, isPast = false }: Given) {
  const t = useWords(WORDS);
  const heart = heartOf(call);
  const touched = (call.touches ?? []).slice(1); // the first is as it is written, the others where links lead
  return (
    <Lookalikes value={call.lookalikes ?? ""}>
      <div className="call-view">
        {!isPast && <Risks call={call} />}
        {heart?.kind === "argument" && (
          <TextValue text={heart.text} label={visibleName(heart.name)} isCommand={call.tool === "execute"} />
        )}
        {heart?.kind === "diff" && <DiffView text={heart.text} path={pathOf(call, workspace)} />}
        {heart?.kind === "text" && <TextValue text={heart.text} label={t("wholeText")} />}
        {!isPast && call.may_change === true && <p className="soft small">{t("mayChange")}</p>}
        {touched.length > 0 && (
          <p className="soft small">
            <ForeignText
              text={t("leadsTo", {
                paths: touched.map((path) => exactName(withinWorkspace(path, workspace))).join(", "),
              })}
            />
          </p>
        )}
        <Arguments call={call} workspace={workspace} />
      </div>
    </Lookalikes>
  );
}

function Risks({ call }: { call: CallShape }) {
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

/** Beside a change of a file its path is enough to begin with: the texts stand in the change. */
function Arguments({ call, workspace }: Given) {
  const t = useWords(WORDS);
  const heart = heartOf(call);
  const [isRaw, setRaw] = useState(false);
  const [isAll, setAll] = useState(false);
  const all = Object.entries(argumentsOf(call));
  const isBrief = heart?.kind === "diff" && !(call.dangerous ?? []).includes("not shown whole");
  const shown = all.filter(([name, value]) => {
    if (isAll) return true;
    if (heart?.kind === "argument") return name !== heart.name;
    return !isBrief || (!isLong(value) && !IN_CHANGE.has(name));
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
        {!isRaw && (isAll || shown.length < all.length) && heart?.kind !== "argument" && (
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

function pathOf(call: CallShape, workspace: string | null): string {
  const { path } = argumentsOf(call);
  return typeof path === "string" ? withinWorkspace(path, workspace) : "";
}

/** What stands in the change itself, or above it. */
const IN_CHANGE = new Set(["path", "content", "source"]);
const SHORT = 120;

function isLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > SHORT || value.includes("\n");
  return typeof value === "object" && value !== null;
}

function Value({ name, value, workspace }: { name: string; value: unknown; workspace: string | null }) {
  if (typeof value === "string" && !isLong(value)) {
    return (
      <code className="value">
        <ForeignText text={isPath(name) ? withinWorkspace(value, workspace) : value} isPath={isPath(name)} />
      </code>
    );
  }
  if (typeof value === "string") return <TextValue text={value} label={visibleName(name)} />;
  if (!isLong(value)) return <code className="value">{String(value)}</code>;
  return <TextValue text={JSON.stringify(value, null, 2)} label={visibleName(name)} />;
}
