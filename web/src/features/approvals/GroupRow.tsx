/** One of several calls that wait. */
import { useId } from "react";
import { useLanguage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { More, Submitting, decideOne } from "./Actions";
import { CallView } from "./CallView";
import { countWords, countsOf, parseDiff } from "./diff";
import type { Deciding } from "./Dock";
import { Essence } from "./Essence";
import { JumpButton } from "./JumpButton";
import { ReadTracker } from "./readProgress";
import { essenceOf, isDangerous, risksOf, titleOf } from "./tools";
import { isOffer, type Waiting } from "./waiting";
import { WORDS } from "./words";

export function GroupRow({ dock, one: { call, sent } }: { dock: Deciding; one: Waiting }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const id = useId();
  const isOpen = dock.isOpen(call.id);
  const title = titleOf(call, language);
  const essence = essenceOf(call, dock.workspace);
  const diff = call.preview == null ? null : parseDiff(call.preview);
  const counts = diff === null ? null : countsOf(diff);
  return (
    <div className="row" role="group" aria-labelledby={id} tabIndex={-1} data-call={call.id} aria-busy={sent !== null}>
      <div className="row-head" data-covers="">
        <label className="tick">
          <input
            type="checkbox"
            checked={dock.isTicked(call.id)}
            disabled={sent !== null}
            aria-label={t("choose", { what: `${title} ${essence}` })}
            onChange={() => dock.tick(call.id)}
          />
        </label>
        <button
          type="button"
          className="row-open"
          aria-expanded={isOpen}
          title={t("open", { what: title })}
          onClick={() => dock.toggle(call.id)}
        >
          <span className="row-chevron">
            <Icon name="chevron" size={16} />
          </span>
          <span className="row-title" id={id}>
            <ForeignText text={title} />
          </span>
          <Essence
            call={call}
            workspace={dock.workspace}
            extraClass={call.tool === "execute" ? "row-essence is-command" : "row-essence"}
          />
          {counts !== null && <span className="row-counts">{countWords(counts)}</span>}
        </button>
        {sent !== null ? (
          <Submitting sent={sent} />
        ) : (
          <span className="row-buttons">
            <Button
              kind="small"
              whyNot={dock.off ?? dock.whyUnread([call])}
              onClick={() => decideOne(dock, call, "approve")}
            >
              {t(isOffer(call) ? "approveOffer" : "approve")}
            </Button>
            <Button kind={["small", "danger"]} whyNot={dock.off} onClick={() => decideOne(dock, call, "reject")}>
              {t("reject")}
            </Button>
          </span>
        )}
      </div>
      {isDangerous(call) && !isOpen && (
        <p className="risk row-risk">
          <Icon name="warning" size={16} />
          <span>{risksOf(call, language).join(" ")}</span>
        </p>
      )}
      {isOpen && (
        <div className="row-body">
          <ReadTracker key={call.digest} digest={call.digest}>
            <CallView call={call} workspace={dock.workspace} />
          </ReadTracker>
          {sent === null && (
            <div className="actions">
              <More dock={dock} call={call} />
              <JumpButton call={call} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}
