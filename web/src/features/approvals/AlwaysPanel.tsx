/** Approves, and gives a rule with it: the narrowest first, and the exact rule in words before it stands. */
import { useId, useState } from "react";
import type { CallShape, RuleOffer } from "../../api/schema";
import { useLanguage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import type { Deciding } from "./Dock";
import { PanelFrame } from "./Panel";
import { laddersOf, ruleWords, rungWords } from "./rules";
import { UnreadNote } from "./UnreadHint";
import { WORDS } from "./words";

export function AlwaysPanel({ dock, call }: { dock: Deciding; call: CallShape }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const offers = call.rule_offers ?? [];
  const [chosen, setChosen] = useState<RuleOffer["scope"] | undefined>(offers[0]?.scope);
  const offer = offers.find((each) => each.scope === chosen);
  const { here, forGood } = laddersOf(offers);
  const whyNot = dock.off ?? dock.whyUnread([call]);
  const give = () => {
    if (whyNot !== null || offer === undefined) return;
    dock.decide([{ id: call.id, digest: call.digest, verdict: "approve", always: offer.scope }]);
    dock.ask(null);
  };
  return (
    <PanelFrame label={t("alwaysTitle")} onBack={() => dock.ask(null)} onSubmit={give}>
      <p className="panel-label">{t("alwaysTitle")}</p>
      <Lookalikes value={call.lookalikes ?? ""}>
        <div className="ladders">
          <Ladder title={t("alwaysHere")} offers={here} chosen={chosen} onChoose={setChosen} />
          <Ladder title={t("alwaysGood")} offers={forGood} chosen={chosen} onChoose={setChosen} />
        </div>
        {offer !== undefined && (
          <p className="rule-shown" aria-live="polite">
            <span className="soft small">{t("alwaysRule")}</span>{" "}
            <ForeignText text={ruleWords(offer.rule, language, dock.id)} />
          </p>
        )}
      </Lookalikes>
      <div className="panel-foot">
        {dock.off === null ? (
          <UnreadNote
            unread={dock.unreadOf([call]).map(({ digest }) => digest)}
            why={dock.whyUnread([call]) ?? ""}
            onShow={() => {
              dock.ask(null); // on a phone the rules take the room of the call
              dock.showUnread([call]);
            }}
          />
        ) : (
          <div className="unread-room" />
        )}
        <Button kind="quiet" onClick={() => dock.ask(null)}>
          {t("back")}
        </Button>
        <Button type="submit" whyNot={whyNot}>
          {t("alwaysGive")}
        </Button>
      </div>
    </PanelFrame>
  );
}

interface LadderGiven {
  title: string;
  offers: readonly RuleOffer[];
  chosen: RuleOffer["scope"] | undefined;
  onChoose(scope: RuleOffer["scope"]): void;
}

function Ladder({ title, offers, chosen, onChoose }: LadderGiven) {
  const language = useLanguage();
  const id = useId();
  if (offers.length === 0) return null;
  return (
    <div className="ladder" role="group" aria-labelledby={id}>
      <p className="small soft" id={id}>
        {title}
      </p>
      {offers.map(({ scope, rule }) => (
        <label key={scope} className="choice">
          <input
            type="radio"
            name="rung"
            autoFocus={scope === chosen}
            checked={scope === chosen}
            onChange={() => onChoose(scope)}
          />
          <span>
            <ForeignText text={rungWords(rule, language)} />
          </span>
        </label>
      ))}
    </div>
  );
}
