/** The preferences. Each change applies at once and on every device; settings of this browser are marked. */
import { useEffect, useState } from "react";
import type { Preferences, PreferencesChange } from "../../api/schema";
import { useAtom } from "../../app/atom";
import { useAppServices, useSelector } from "../../app/appServices";
import { LANGUAGES, LANGUAGE_CODES } from "../../i18n/languages";
import { useTexts } from "../../i18n/texts";
import { readSingleKeys, writeSingleKeys } from "../approvals/decisionKeys";
import { sendKeysAtom, writeSendKeys } from "../chat/composer/composerKeys";
import { preferencesOf } from "../../store/selectors";
import { RadioGroup } from "../../ui/ChoiceGroup";
import { Dialog } from "../../ui/Dialog";
import { ProblemNote } from "../../ui/ProblemNote";
import { DefaultMode } from "./DefaultMode";
import { PolicyFields } from "./PolicyFields";
import { useModels, useModelLabel } from "../models/useModels";
import "./preferences.css";

const NO_PREFERENCES: Preferences = {};

export function PreferencesDialog({ onClose }: { onClose(): void }) {
  const t = useTexts("preferences");
  const { act, store } = useAppServices();
  const preferences = useSelector(preferencesOf) ?? NO_PREFERENCES;
  const rejected = useSelector((state) =>
    Object.values(state.outgoing).findLast(
      ({ command, problem }) => command.kind === "preferences" && problem !== null,
    ),
  );
  const [size, setSize] = useState(preferences.font_size ?? 14);
  const set = (body: PreferencesChange) => {
    if (rejected !== undefined) store.dispatch({ type: "dismissed", key: rejected.key });
    act({ kind: "preferences", body });
  };
  useEffect(() => () => dismissRejected(store), [store]);
  return (
    <Dialog title={t("title")} onClose={onClose}>
      <div className="preferences">
        <ProblemNote problem={rejected?.problem ?? null} />
        <section>
          <h3>{t("look")}</h3>
          <RadioGroup
            legend={t("theme")}
            isRow
            value={preferences.theme ?? "system"}
            options={(["system", "light", "dark"] as const).map((value) => ({ value, label: t(value) }))}
            onChange={(theme) => set({ theme })}
          />
          <RadioGroup
            legend={t("language")}
            isRow
            value={preferences.language ?? "system"}
            options={(["system", ...LANGUAGE_CODES] as const).map((value) => ({
              value,
              label: value === "system" ? t(value) : LANGUAGES[value].name,
            }))}
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
        <KeyPreferences />
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

function dismissRejected(store: ReturnType<typeof useAppServices>["store"]): void {
  for (const { key, command, problem } of Object.values(store.getSnapshot().outgoing)) {
    if (command.kind === "preferences" && problem !== null) store.dispatch({ type: "dismissed", key });
  }
}

function KeyPreferences() {
  const t = useTexts("preferences");
  const sendKeys = useAtom(sendKeysAtom);
  const [isSingle, setSingle] = useState(readSingleKeys);
  return (
    <section>
      <h3>{t("keys")}</h3>
      <RadioGroup
        legend={t("send")}
        value={sendKeys}
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
  const t = useTexts("preferences");
  const models = useModels();
  const nameOf = useModelLabel();
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
