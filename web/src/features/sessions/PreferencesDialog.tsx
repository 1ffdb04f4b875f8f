/** How the person likes it. Each choice holds at once, on every device; what belongs to this browser says so. */
import { useEffect, useState } from "react";
import type { Preferences, PreferencesChange } from "../../api/schema";
import { useCell } from "../../app/cell";
import { usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { readSingleKeys, writeSingleKeys } from "../approvals/keys";
import { sendKeys, writeSendKeys } from "../chat/composer/keys";
import { preferencesOf } from "../../store/selectors";
import { Choice } from "../../ui/Choice";
import { Dialog } from "../../ui/Dialog";
import { ProblemNote } from "../../ui/ProblemNote";
import { DefaultMode } from "./DefaultMode";
import { PolicyFields } from "./PolicyFields";
import { useModels, useNameOfModel } from "./useModels";
import "./preferences.css";

const WORDS = {
  title: ["Preferences", "偏好设置"],
  look: ["Look", "外观"],
  theme: ["Theme", "主题"],
  system: ["As the system", "跟随系统"],
  light: ["Light", "浅色"],
  dark: ["Dark", "深色"],
  language: ["Language", "语言"],
  en: ["English", "English"],
  zh: ["中文", "中文"],
  size: ["Size of type: {n} px", "字号：{n} px"],
  keys: ["Keys, in this browser", "按键（仅此浏览器）"],
  send: ["Send with", "发送方式"],
  enter: ["Enter", "Enter"],
  enterNote: ["Shift+Enter makes a new line", "Shift+Enter 换行"],
  modEnter: ["Ctrl+Enter (⌘ Enter on a Mac)", "Ctrl+Enter（Mac 上为 ⌘ Enter）"],
  modEnterNote: ["Enter makes a new line", "Enter 换行"],
  single: [
    "Single keys decide about a call that has the focus (Enter, Esc, 1–4)",
    "焦点在调用上时，单键可直接决定（Enter、Esc、1–4）",
  ],
  new: ["New conversations", "新对话"],
  model: ["Model", "模型"],
  usual: ["The usual one", "默认模型"],
} as const;

const USUAL: Preferences = {};

export function PreferencesDialog({ onClose }: { onClose(): void }) {
  const t = useWords(WORDS);
  const { act, store } = usePage();
  const preferences = useSlice(preferencesOf) ?? USUAL;
  const refused = useSlice((state) =>
    Object.values(state.outgoing).findLast(
      ({ command, problem }) => command.kind === "preferences" && problem !== null,
    ),
  );
  const [size, setSize] = useState(preferences.font_size ?? 14);
  const set = (body: PreferencesChange) => {
    if (refused !== undefined) store.dispatch({ type: "dismissed", key: refused.key });
    act({ kind: "preferences", body });
  };
  useEffect(() => () => forgetRefused(store), [store]);
  return (
    <Dialog title={t("title")} onClose={onClose}>
      <div className="preferences">
        <ProblemNote problem={refused?.problem ?? null} />
        <section>
          <h3>{t("look")}</h3>
          <Choice
            legend={t("theme")}
            isRow
            value={preferences.theme ?? "system"}
            options={(["system", "light", "dark"] as const).map((value) => ({ value, label: t(value) }))}
            onChange={(theme) => set({ theme })}
          />
          <Choice
            legend={t("language")}
            isRow
            value={preferences.language ?? "system"}
            options={(["system", "en", "zh"] as const).map((value) => ({ value, label: t(value) }))}
            onChange={(language) => set({ language: language === "system" ? null : language })}
          />
          <label className="preferences-size">
            <span>{t("size", { n: size })}</span>
            <input
              type="range"
              min={12}
              max={20}
              value={size}
              onChange={(event) => {
                setSize(event.target.valueAsNumber);
                set({ font_size: event.target.valueAsNumber });
              }}
            />
          </label>
        </section>
        <Keys />
        <section>
          <h3>{t("new")}</h3>
          <DefaultMode
            preferred={preferences.default_mode ?? null}
            onChange={(default_mode) => set({ default_mode })}
          />
          <DefaultModel
            preferred={preferences.default_model ?? null}
            onChange={(default_model) => set({ default_model })}
          />
          <PolicyFields
            policy={preferences.tool_approval_policy ?? {}}
            onChange={(tool_approval_policy) => set({ tool_approval_policy })}
          />
        </section>
      </div>
    </Dialog>
  );
}

function forgetRefused(store: ReturnType<typeof usePage>["store"]): void {
  for (const { key, command, problem } of Object.values(store.getSnapshot().outgoing)) {
    if (command.kind === "preferences" && problem !== null) store.dispatch({ type: "dismissed", key });
  }
}

function Keys() {
  const t = useWords(WORDS);
  const sendsWith = useCell(sendKeys);
  const [isSingle, setSingle] = useState(readSingleKeys);
  return (
    <section>
      <h3>{t("keys")}</h3>
      <Choice
        legend={t("send")}
        value={sendsWith}
        options={[
          { value: "enter", label: t("enter"), note: t("enterNote") },
          { value: "mod-enter", label: t("modEnter"), note: t("modEnterNote") },
        ]}
        onChange={writeSendKeys}
      />
      <label className="check">
        <input type="checkbox" checked={isSingle} onChange={() => (setSingle(!isSingle), writeSingleKeys(!isSingle))} />
        <span>{t("single")}</span>
      </label>
    </section>
  );
}

function DefaultModel({ preferred, onChange }: { preferred: string | null; onChange(model: string | null): void }) {
  const t = useWords(WORDS);
  const models = useModels();
  const nameOf = useNameOfModel();
  if (models.length < 2) return null;
  return (
    <label className="preferences-row">
      <span>{t("model")}</span>
      <select
        className="field"
        value={preferred ?? ""}
        onChange={(event) => onChange(event.target.value === "" ? null : event.target.value)}
      >
        <option value="">{t("usual")}</option>
        {models.map((model) => (
          <option key={model.name} value={model.name}>
            {nameOf(model)}
          </option>
        ))}
      </select>
    </label>
  );
}
