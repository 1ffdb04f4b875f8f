/** Lists all rules in force: scope, origin and lifetime. */
import { useState } from "react";
import type { Rule } from "../../api/schema";
import { useQuery, useAction, useLanguage, useAppServices, useSelector, useUserId } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { isConnected } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { Icon, type IconName } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { effectText, originText, scopeText, lifetimeText } from "./ruleText";
import "./rules.css";

const EFFECT_ICONS: Record<Rule["effect"], IconName> = { allow: "check", ask: "question", deny: "close" };

export function RulesDialog({ context, onClose }: { context: string | null; onClose(): void }) {
  const t = useTexts("rulesDialog");
  const { value, problem, refetch } = useQuery("GET /api/rules", {
    query: context === null ? {} : { context_id: context },
  });
  const rules = value?.items ?? [];
  return (
    <Dialog title={t("title")} onClose={onClose} isWide>
      <p className="soft">{t(context === null ? "all" : "here")}</p>
      <ProblemNote problem={problem} />
      {value === null && problem === null && <p className="soft">{t("loading")}</p>}
      {value !== null && rules.length === 0 && (
        <div className="rules-empty">
          <Icon name="rule" size={32} />
          <p>{t("none")}</p>
          <p className="soft small">{t("noneHow")}</p>
        </div>
      )}
      <ul className="rules">
        {rules.map((rule) => (
          <RuleLine key={rule.id} rule={rule} context={context} onRevoked={refetch} />
        ))}
      </ul>
    </Dialog>
  );
}

function RuleLine({ rule, context, onRevoked }: { rule: Rule; context: string | null; onRevoked(): void }) {
  const t = useTexts("rulesDialog");
  const language = useLanguage();
  const user = useUserId();
  const { api, environment } = useAppServices();
  const isOnline = useSelector(isConnected);
  const action = useAction();
  const [now] = useState(environment.now());
  const isInFile = rule.origin.file != null;
  const revoke = async () => {
    const contextId = rule.lifetime?.context ?? null;
    const query = contextId === null ? {} : { context_id: contextId };
    if (!(await action.run(() => api("DELETE /api/rules/{rule_id}", { path: { rule_id: rule.id }, query })))) return;
    announce(t("revoked"));
    onRevoked();
  };
  return (
    <li className={`rule is-${rule.effect}`}>
      <span className="rule-icon">
        <Icon name={EFFECT_ICONS[rule.effect]} />
      </span>
      <div className="rule-words">
        <p>
          <strong>{effectText(rule.effect, language)}</strong> <ForeignText text={scopeText(rule, language)} />
        </p>
        <p className="soft small">
          <ForeignText text={lifetimeText(rule, language, context)} />
        </p>
        <p className="soft small">
          <ForeignText text={originText(rule, language, now, user)} />
        </p>
        <ProblemNote problem={action.problem} />
      </div>
      {isInFile ? (
        <span className="rule-file small">
          <Icon name="file" size={16} />
          {t("inFile")}
        </span>
      ) : (
        <Button
          kind={["small", "danger"]}
          disabledReason={isOnline ? null : t("offline")}
          aria-busy={action.isBusy}
          onClick={() => void revoke()}
        >
          {t("revoke")}
        </Button>
      )}
    </li>
  );
}
