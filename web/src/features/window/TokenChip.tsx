/** How full the context window is, and the token usage of the conversation. */
import { useQuery, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { isBusy } from "../../store/selectors";
import { Popover } from "../../ui/Popover";
import { compactCount, costText, percent, urgency } from "./tokenFormat";
import "./token-chip.css";

export function TokenChip({ id }: { id: string }) {
  const t = useTexts("contextWindow");
  // While the turn runs, the last values stay; they are fetched again when it ends.
  const version = useSelector(
    (state) => (isBusy(state, id) ? "working" : String(state.contexts[id]?.view.value?.version)),
    [id],
  );
  const usage = useQuery("GET /api/contexts/{context_id}/usage", { path: { context_id: id } }, version).value;
  if (usage === null || usage.window.tokens === 0) return null;
  const { own, total, window } = usage;
  const percentUsed = percent(window.tokens, window.budget);
  const estimateSign = window.is_estimate ? "≈ " : "";
  const [tokens, budget] = [compactCount(window.tokens), compactCount(window.budget)];
  const rows: [string, string][] = [
    [t("window"), `${estimateSign}${window.tokens.toLocaleString()} / ${window.budget.toLocaleString()}`],
    [t("in"), (own.input_tokens ?? 0).toLocaleString()],
    [t("out"), (own.output_tokens ?? 0).toLocaleString()],
  ];
  const isAlone = total.input_tokens === own.input_tokens && total.output_tokens === own.output_tokens;
  if (!isAlone)
    rows.push([
      t("below"),
      `${(total.input_tokens ?? 0).toLocaleString()} + ${(total.output_tokens ?? 0).toLocaleString()}`,
    ]);
  if (total.cost != null) rows.push([t("cost"), `≈ ${costText(total.cost)}`]);
  return (
    <Popover
      label={t("label", { shown: `${estimateSign}${percentUsed}% · ${tokens}/${budget}` })}
      buttonClass={`button quiet small token-chip is-${urgency(percentUsed)}`}
      placement="above"
      button={
        <>
          {estimateSign}
          {percentUsed}%
          <span className="token-more">
            {" "}
            · {tokens}/{budget}
          </span>
        </>
      }
    >
      <dl className="token-rows">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="soft small">
        {window.auto_compress
          ? t("compresses", { tokens: compactCount(window.trigger), percent: percent(window.trigger, window.budget) })
          : t("never")}
      </p>
      {window.is_estimate && <p className="soft small">{t("estimate")}</p>}
    </Popover>
  );
}
