/** The card of what waits: one call with all that it would do, or several in rows; and below them the ways to decide. */
import { useId } from "react";
import { useLanguage } from "../../app/page";
import { ariaKeysOf, keysOf } from "../../app/shortcuts";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { IconButton } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { Actions } from "./Actions";
import { CallView } from "./CallView";
import type { Deciding } from "./Dock";
import { GroupActions, Rows } from "./Group";
import { ReadTracker } from "./readProgress";
import { JumpButton } from "./JumpButton";
import { SCROLLS, scrollByKey } from "./pageKeys";
import { Panel } from "./Panel";
import { essenceOf, titleOf } from "./tools";
import { isOffer, type Waiting } from "./waiting";
import { WORDS } from "./words";

/** It stays the same card while others come and go beside a call, so that nobody loses what they write about that. */
export function Card({ dock }: { dock: Deciding }) {
  const t = useWords(WORDS);
  const id = useId();
  const { asked, waiting } = dock;
  const one = waiting.length === 1 ? waiting[0] : undefined;
  const focus = one === undefined ? {} : { tabIndex: -1, "data-call": one.call.id, "aria-busy": one.sent !== null };
  return (
    <div
      className={dock.isLarge ? "card is-large" : "card"}
      role="group"
      aria-labelledby={id}
      onKeyDown={scrollByKey}
      {...focus}
    >
      <header className="card-head">
        <Icon name="rule" />
        {one === undefined ? (
          <>
            <h2 id={id} className="card-title">
              {t("group", { n: waiting.length })}
            </h2>
            <Reach />
            <SizeButton dock={dock} />
          </>
        ) : (
          <Title id={id} dock={dock} one={one} />
        )}
      </header>
      {asked?.kind !== "edit" &&
        (one === undefined ? <Rows dock={dock} /> : <Body key={one.call.id} dock={dock} one={one} />)}
      <footer className="card-foot">
        {asked !== null ? (
          <Panel key={`${asked.kind} ${asked.calls[0]?.id}`} dock={dock} asked={asked} />
        ) : one === undefined ? (
          <GroupActions dock={dock} />
        ) : (
          <Actions key={one.call.id} dock={dock} one={one} />
        )}
      </footer>
    </div>
  );
}

function Title({ id, dock, one: { call } }: { id: string; dock: Deciding; one: Waiting }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  return (
    <>
      <h2 id={id} className="card-title">
        <span className="card-kind">{t(isOffer(call) ? "dockOffer" : "dock")}</span>{" "}
        <ForeignText text={titleOf(call, language)} />
        <span className="hidden-visually"> {essenceOf(call, dock.workspace)}</span>
      </h2>
      <Reach />
      <SizeButton dock={dock} />
      <JumpButton call={call} />
    </>
  );
}

/** The key that leads to the card, until the focus is there. */
function Reach() {
  const t = useWords(WORDS);
  return <span className="card-reach soft small">{t("reach", { keys: keysOf("approval.focus") })}</span>;
}

function SizeButton({ dock }: { dock: Deciding }) {
  const t = useWords(WORDS);
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon={dock.isLarge ? "shrink" : "enlarge"}
      label={t(dock.isLarge ? "shrink" : "enlarge")}
      title={`${t(dock.isLarge ? "shrink" : "enlarge")} · ${keysOf("approval.enlarge")}`}
      aria-keyshortcuts={ariaKeysOf("approval.enlarge")}
      onClick={dock.isLarge ? dock.shrink : dock.enlarge}
    />
  );
}

function Body({ dock, one: { call } }: { dock: Deciding; one: Waiting }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  return (
    <div className="card-body" role="region" tabIndex={0} aria-label={t("wholeCall")} {...SCROLLS}>
      <ReadTracker key={call.digest} digest={call.digest}>
        <CallView call={call} workspace={dock.workspace} />
      </ReadTracker>
      {call.reason != null && (
        <p className="soft small">
          {isOffer(call) ? t("offerMeans") : <ForeignText text={say(call.reason, language)} />}
        </p>
      )}
    </div>
  );
}
