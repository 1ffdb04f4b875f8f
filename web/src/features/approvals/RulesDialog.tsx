/** All rules that stand: what each lets through or forbids, where it comes from, and its end. */
import { useState } from "react";
import type { Rule } from "../../api/schema";
import { useAsked, useDoing, useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { isConnected } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { Icon, type IconName } from "../../ui/icons";
import { ProblemNote } from "../../ui/ProblemNote";
import { effectWords, originWords, scopeWords, termWords } from "./rules";
import "./rules.css";

const WORDS = {
  title: ["Rules", "规则"],
  here: [
    "These decide calls in this conversation, together with its mode. The strictest wins.",
    "这些规则与模式一起决定此对话中的调用，以最严格者为准。",
  ],
  all: [
    "These decide calls in all your conversations, together with their mode. The strictest wins.",
    "这些规则与模式一起决定你所有对话中的调用，以最严格者为准。",
  ],
  none: ["There are no rules yet.", "还没有规则。"],
  noneHow: [
    "“Always…” on a call that waits gives one: it is shown in words before it stands.",
    "在等待批准的调用上选择“总是允许…”即可添加规则，生效前会以文字显示。",
  ],
  revoke: ["Revoke", "撤销"],
  revoked: ["The rule is revoked", "规则已撤销"],
  inFile: ["Stands in a file: change it there", "写在文件中：请在文件里修改"],
  offline: ["There is no connection", "没有连接"],
  loading: ["One moment…", "请稍候…"],
} as const;

const SIGNS: Record<Rule["effect"], IconName> = { allow: "check", ask: "question", deny: "close" };

export function RulesDialog({ context, onClose }: { context: string | null; onClose(): void }) {
  const t = useWords(WORDS);
  const { value, problem, again } = useAsked("GET /api/rules", {
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
          <RuleLine key={rule.id} rule={rule} context={context} onRevoked={again} />
        ))}
      </ul>
    </Dialog>
  );
}

function RuleLine({ rule, context, onRevoked }: { rule: Rule; context: string | null; onRevoked(): void }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { api, ambient } = usePage();
  const isOn = useSlice(isConnected);
  const doing = useDoing();
  const [now] = useState(ambient.now());
  const isInFile = rule.origin.file != null;
  const revoke = async () => {
    const only = rule.lifetime?.context ?? null;
    const query = only === null ? {} : { context_id: only };
    if (!(await doing.run(() => api("DELETE /api/rules/{rule_id}", { path: { rule_id: rule.id }, query })))) return;
    announce(t("revoked"));
    onRevoked();
  };
  return (
    <li className={`rule is-${rule.effect}`}>
      <span className="rule-sign">
        <Icon name={SIGNS[rule.effect]} />
      </span>
      <div className="rule-words">
        <p>
          <strong>{effectWords(rule.effect, language)}</strong> <ForeignText text={scopeWords(rule, language)} />
        </p>
        <p className="soft small">
          <ForeignText text={termWords(rule, language, context)} />
        </p>
        <p className="soft small">
          <ForeignText text={originWords(rule, language, now)} />
        </p>
        <ProblemNote problem={doing.problem} />
      </div>
      {isInFile ? (
        <span className="rule-file small">
          <Icon name="file" size={16} />
          {t("inFile")}
        </span>
      ) : (
        <Button
          kind={["small", "danger"]}
          whyNot={isOn ? null : t("offline")}
          aria-busy={doing.isBusy}
          onClick={() => void revoke()}
        >
          {t("revoke")}
        </Button>
      )}
    </li>
  );
}
