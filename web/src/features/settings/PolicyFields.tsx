/** The policy that makes calls wait for approval although the mode would allow them. */
import { useState } from "react";
import type { Policy } from "../../api/schema";
import { useQuery } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { RadioGroup, CheckboxGroup } from "../../ui/ChoiceGroup";
import { toolName } from "../../ui/safeText";

const KINDS = ["auto_approve", "manual", "white_list", "limited_auto"] as const;
const ALWAYS_ASK = ["delete", "overwrite", "network", "privilege"] as const;
const DEFAULT_DEPTH = 5;

export function PolicyFields({ policy, onChange }: { policy: Policy; onChange(policy: Policy): void }) {
  const t = useTexts("policy");
  const kind = policy.kind ?? "auto_approve";
  const set = (change: Policy) => onChange({ ...policy, ...change });
  return (
    <div className="dialog-stack">
      <RadioGroup
        legend={t("policy")}
        value={kind}
        options={KINDS.map((value) => ({ value, label: t(value) }))}
        onChange={(selected) => set({ kind: selected })}
      />
      {kind === "white_list" && <ToolList selected={policy.tools ?? []} onChange={(tools) => set({ tools })} />}
      {kind === "limited_auto" && <Depth depth={policy.depth ?? DEFAULT_DEPTH} onChange={(depth) => set({ depth })} />}
      <CheckboxGroup
        legend={t("always")}
        isRow
        values={policy.always_ask ?? []}
        options={ALWAYS_ASK.map((value) => ({ value, label: t(value) }))}
        onChange={(always_ask) => set({ always_ask })}
      />
      <p className="soft small">{t("holds")}</p>
    </div>
  );
}

function ToolList({ selected, onChange }: { selected: readonly string[]; onChange(tools: readonly string[]): void }) {
  const t = useTexts("policy");
  const tools = useQuery("GET /api/tools", {}).value?.items ?? [];
  return (
    <div className="policy-tools">
      <CheckboxGroup
        legend={t("tools")}
        values={selected}
        options={tools.map((tool) => ({
          value: tool.name,
          label: toolName({ tool: tool.name, display_name: tool.display_name }),
        }))}
        onChange={onChange}
      />
    </div>
  );
}

/** Accepts whole numbers from 1 to 999. Other input stays in the field but is not saved. */
function Depth({ depth, onChange }: { depth: number; onChange(depth: number): void }) {
  const t = useTexts("policy");
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
