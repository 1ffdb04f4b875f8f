/** What waits for the person although the mode would let it run, in plain words. */
import { useState } from "react";
import type { Policy } from "../../api/schema";
import { useAsked } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Choice, Choices } from "../../ui/Choice";
import { toolName } from "../../ui/names";

const WORDS = {
  policy: ["Approval, beside the mode", "审批（在模式之外）"],
  auto_approve: ["As the mode says", "按模式决定"],
  manual: ["Every call waits for me", "每次调用都等待我"],
  white_list: ["Only tools of my list run without asking", "只有列表中的工具无需询问"],
  limited_auto: ["Some rounds run by themselves, then it asks", "先自动运行若干轮，然后询问"],
  tools: ["Run without asking", "无需询问"],
  depth: ["Rounds that run by themselves", "自动运行的轮数"],
  always: ["Always ask before something that", "以下情况始终询问"],
  delete: ["deletes", "删除"],
  overwrite: ["overwrites", "覆盖"],
  network: ["goes to the network", "访问网络"],
  privilege: ["needs more rights", "需要更高权限"],
  holds: [
    "A policy makes a mode stricter, never looser. It holds for conversations that you begin from now on.",
    "策略只会让模式更严格，不会更宽松。仅对此后开始的对话生效。",
  ],
} as const;
const KINDS = ["auto_approve", "manual", "white_list", "limited_auto"] as const;
const DANGERS = ["delete", "overwrite", "network", "privilege"] as const;
const USUAL_DEPTH = 5;

export function PolicyFields({ policy, onChange }: { policy: Policy; onChange(policy: Policy): void }) {
  const t = useWords(WORDS);
  const kind = policy.kind ?? "auto_approve";
  const set = (change: Policy) => onChange({ ...policy, ...change });
  return (
    <div className="dialog-stack">
      <Choice
        legend={t("policy")}
        value={kind}
        options={KINDS.map((value) => ({ value, label: t(value) }))}
        onChange={(chosen) => set({ kind: chosen })}
      />
      {kind === "white_list" && <ToolList chosen={policy.tools ?? []} onChange={(tools) => set({ tools })} />}
      {kind === "limited_auto" && <Depth depth={policy.depth ?? USUAL_DEPTH} onChange={(depth) => set({ depth })} />}
      <Choices
        legend={t("always")}
        isRow
        values={policy.always_ask ?? []}
        options={DANGERS.map((value) => ({ value, label: t(value) }))}
        onChange={(always_ask) => set({ always_ask })}
      />
      <p className="soft small">{t("holds")}</p>
    </div>
  );
}

function ToolList({ chosen, onChange }: { chosen: readonly string[]; onChange(tools: readonly string[]): void }) {
  const t = useWords(WORDS);
  const tools = useAsked("GET /api/tools", {}).value?.items ?? [];
  return (
    <div className="policy-tools">
      <Choices
        legend={t("tools")}
        values={chosen}
        options={tools.map((tool) => ({
          value: tool.name,
          label: toolName({ tool: tool.name, display_name: tool.display_name }),
        }))}
        onChange={onChange}
      />
    </div>
  );
}

/** What is no whole number from 1 on is not taken, and stays to be corrected. */
function Depth({ depth, onChange }: { depth: number; onChange(depth: number): void }) {
  const t = useWords(WORDS);
  const [text, setText] = useState(String(depth));
  const change = (value: string) => {
    setText(value);
    if (/^[1-9]\d{0,2}$/.test(value)) onChange(Number(value));
  };
  return (
    <label className="preferences-row">
      <span>{t("depth")}</span>
      <input
        className="field"
        type="number"
        min={1}
        max={999}
        value={text}
        onChange={(event) => change(event.target.value)}
      />
    </label>
  );
}
