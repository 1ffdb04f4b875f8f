/**
 * Approves a call together with an allow rule. The options are listed narrowest first, and the exact rule is shown in
 * words before it is given.
 */
import { useId, useState } from "react";
import type { CallView, RuleOptionOffer } from "../../api/schema";
import { useLanguage } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { ForeignText, Lookalikes } from "../../ui/ForeignText";
import type { DockControls } from "./ApprovalDock";
import { PanelFrame } from "./DecisionPanel";
import { groupRuleOffers, ruleText, shortRuleText } from "../rules/ruleText";
import { UnreadNote } from "../read-progress/UnreadHint";

export function AlwaysPanel({ dock, call }: { dock: DockControls; call: CallView }) {
  const t = useTexts("approvals");
  const language = useLanguage();
  const offers = call.rule_offers ?? [];
  const [selectedScope, setSelectedScope] = useState<RuleOptionOffer["scope"] | undefined>(offers[0]?.scope);
  const offer = offers.find((each) => each.scope === selectedScope);
  const { forContext, permanent } = groupRuleOffers(offers);
  const disabledReason = dock.disabledReason ?? dock.unreadReason([call]);
  const submit = () => {
    if (disabledReason !== null || offer === undefined) return;
    dock.decide([{ id: call.id, digest: call.digest, verdict: "approve", always: offer.scope }]);
    dock.openPanel(null);
  };
  return (
    <PanelFrame label={t("alwaysTitle")} onBack={() => dock.openPanel(null)} onSubmit={submit}>
      <p className="panel-label">{t("alwaysTitle")}</p>
      <Lookalikes value={call.lookalikes ?? ""}>
        <div className="rule-option-groups">
          <RuleOptions
            title={t("alwaysHere")}
            offers={forContext}
            selected={selectedScope}
            onSelect={setSelectedScope}
          />
          <RuleOptions
            title={t("alwaysGood")}
            offers={permanent}
            selected={selectedScope}
            onSelect={setSelectedScope}
          />
        </div>
        {offer !== undefined && (
          <p className="rule-preview" aria-live="polite">
            <span className="soft small">{t("alwaysRule")}</span>{" "}
            <ForeignText text={ruleText(offer.rule, language, dock.id)} />
          </p>
        )}
      </Lookalikes>
      <div className="panel-foot">
        {dock.disabledReason === null ? (
          <UnreadNote
            unread={dock.unreadOf([call]).map(({ digest }) => digest)}
            reason={dock.unreadReason([call]) ?? ""}
            onShow={() => {
              dock.openPanel(null); // on a phone, the panel hides the call
              dock.showUnread([call]);
            }}
          />
        ) : (
          <div className="unread-room" />
        )}
        <Button kind="quiet" onClick={() => dock.openPanel(null)}>
          {t("back")}
        </Button>
        <Button type="submit" disabledReason={disabledReason}>
          {t("alwaysGive")}
        </Button>
      </div>
    </PanelFrame>
  );
}

interface RuleOptionsProps {
  title: string;
  offers: readonly RuleOptionOffer[];
  selected: RuleOptionOffer["scope"] | undefined;
  onSelect(scope: RuleOptionOffer["scope"]): void;
}

function RuleOptions({ title, offers, selected, onSelect }: RuleOptionsProps) {
  const language = useLanguage();
  const id = useId();
  if (offers.length === 0) return null;
  return (
    <div className="rule-option-group" role="group" aria-labelledby={id}>
      <p className="small soft" id={id}>
        {title}
      </p>
      {offers.map(({ scope, rule }) => (
        <label key={scope} className="choice">
          <input
            type="radio"
            name="rule-option"
            autoFocus={scope === selected}
            checked={scope === selected}
            onChange={() => onSelect(scope)}
          />
          <span>
            <ForeignText text={shortRuleText(rule, language)} />
          </span>
        </label>
      ))}
    </div>
  );
}
