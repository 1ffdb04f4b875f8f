/** How full the window is, and what the conversation has used. */
import { useAsked, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { isBusy } from "../../store/selectors";
import { Popover } from "../../ui/Popover";
import { compact, money, percent, urgency } from "./tokens";
import "./tokens.css";

const WORDS = {
  label: ["{shown} tokens of the window", "{shown} 个 token（窗口占用）"],
  estimate: ["Estimated; the provider's own count corrects it.", "这是估算值；提供方的计数会校正它。"],
  window: ["In the window", "窗口内"],
  in: ["Tokens in", "输入 token"],
  out: ["Tokens out", "输出 token"],
  cost: ["Cost", "费用"],
  below: ["With sub-agents", "含子智能体"],
  compresses: ["Compresses by itself at {tokens} ({percent} %).", "达到 {tokens}（{percent} %）时自动压缩。"],
  never: ["Does not compress by itself.", "不会自动压缩。"],
} as const;

export function TokenChip({ id }: { id: string }) {
  const t = useWords(WORDS);
  // While it works, the last figures stay: they are asked for again when it rests.
  const since = useSlice(
    (state) => (isBusy(state, id) ? "working" : String(state.contexts[id]?.shape.value?.version)),
    [id],
  );
  const found = useAsked("GET /api/contexts/{context_id}/usage", { path: { context_id: id } }, since).value;
  if (found === null || found.window.tokens === 0) return null;
  const { own, total, window } = found;
  const full = percent(window.tokens, window.budget);
  const about = window.is_estimate ? "≈ " : "";
  const [tokens, budget] = [compact(window.tokens), compact(window.budget)];
  const rows: [string, string][] = [
    [t("window"), `${about}${window.tokens.toLocaleString()} / ${window.budget.toLocaleString()}`],
    [t("in"), (own.input_tokens ?? 0).toLocaleString()],
    [t("out"), (own.output_tokens ?? 0).toLocaleString()],
  ];
  const isAlone = total.input_tokens === own.input_tokens && total.output_tokens === own.output_tokens;
  if (!isAlone)
    rows.push([
      t("below"),
      `${(total.input_tokens ?? 0).toLocaleString()} + ${(total.output_tokens ?? 0).toLocaleString()}`,
    ]);
  if (total.cost != null) rows.push([t("cost"), `≈ ${money(total.cost)}`]);
  return (
    <Popover
      label={t("label", { shown: `${about}${full} % · ${tokens}/${budget}` })}
      buttonClass={`button quiet small token-chip is-${urgency(full)}`}
      place="above"
      button={
        <>
          {about}
          {full} %
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
          ? t("compresses", { tokens: compact(window.trigger), percent: percent(window.trigger, window.budget) })
          : t("never")}
      </p>
      {window.is_estimate && <p className="soft small">{t("estimate")}</p>}
    </Popover>
  );
}
