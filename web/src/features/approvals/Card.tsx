/** The card of one call that waits: what it is, all that it would do, and the ways to decide. */
import { useId } from "react";
import { useLanguage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { visibleName } from "../../ui/names";
import { Actions } from "./Actions";
import { CallView } from "./CallView";
import type { Deciding } from "./Dock";
import { jumpToCall } from "./jump";
import { Panel } from "./Panel";
import { essenceOf, titleOf } from "./tools";
import { isOffer, type Waiting } from "./waiting";
import { WORDS } from "./words";

export function Card({ dock, one }: { dock: Deciding; one: Waiting }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const id = useId();
  const { call, sent } = one;
  return (
    <div className="card" role="group" aria-labelledby={id} tabIndex={-1} data-call={call.id} aria-busy={sent !== null}>
      <header className="card-head">
        <Icon name="rule" />
        <h2 id={id} className="card-title">
          <span className="card-kind">{t(isOffer(call) ? "dockOffer" : "dock")}</span> {titleOf(call, language)}
          <span className="hidden-visually"> {essenceOf(call, dock.workspace)}</span>
        </h2>
        <code className="tool-id">{visibleName(call.tool)}</code>
        <IconButton kind={["quiet", "small"]} icon="down" extraClass="jump" label={t("jump")} onClick={() => jumpToCall(call.id)} />
      </header>
      {dock.asked?.kind !== "edit" && (
        <div className="card-body">
          <CallView call={call} workspace={dock.workspace} />
          {call.reason != null && <p className="soft small">{isOffer(call) ? t("offerMeans") : say(call.reason, language)}</p>}
        </div>
      )}
      <footer className="card-foot">{dock.asked === null ? <Actions dock={dock} one={one} /> : <Panel dock={dock} asked={dock.asked} />}</footer>
    </div>
  );
}
