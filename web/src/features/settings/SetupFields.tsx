/** The three steps of the set-up in one form: provider, key, model. */
import { type ReactNode, useId, useState } from "react";
import type { Setup, SetupTrial } from "../../api/schema";
import { useLanguage } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { RadioGroup } from "../../ui/ChoiceGroup";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { type SetupForm, baseUrlOf, usesStoredKey } from "./setupForm";

interface Props {
  setup: Setup;
  form: SetupForm;
  trial: SetupTrial | null;
  isBusy: boolean;
  onChange(next: Partial<SetupForm>): void;
  onTest(): void;
}

export function SetupFields({ setup, form, trial, isBusy, onChange, onTest }: Props) {
  const t = useTexts("setupFields");
  const [isKeyVisible, setKeyVisible] = useState(false);
  const id = useId();
  const models = trial?.models ?? [];
  const hint = setup.key_hint == null ? "" : t("hint", { end: setup.key_hint });
  const isLocal = /^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrlOf(form));
  return (
    <ol className="setup">
      <Step title={t("provider")}>
        <RadioGroup
          legend={t("provider")}
          value={form.provider}
          options={[
            { value: "openai", label: t("openai") },
            { value: "own", label: t("own") },
          ]}
          onChange={(provider) => onChange({ provider })}
        />
        {form.provider === "own" && (
          <input
            className="field"
            type="url"
            aria-label={t("address")}
            placeholder="http://127.0.0.1:11434/v1"
            value={form.address}
            spellCheck={false}
            onChange={(event) => onChange({ address: event.target.value })}
          />
        )}
      </Step>
      <Step title={t("key")} htmlFor={`${id}-key`}>
        <div className="setup-key">
          <input
            id={`${id}-key`}
            className="field"
            type={isKeyVisible ? "text" : "password"}
            value={form.key}
            placeholder={usesStoredKey(setup, form) ? "••••••••" : ""}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ key: event.target.value })}
          />
          <Button disabled={isBusy || baseUrlOf(form) === ""} onClick={onTest}>
            {t(isBusy ? "testing" : "test")}
          </Button>
        </div>
        <label className="check small">
          <input type="checkbox" checked={isKeyVisible} onChange={() => setKeyVisible(!isKeyVisible)} />
          <span>{t("show")}</span>
        </label>
        <p className="soft small">
          {usesStoredKey(setup, form) ? t("keptKey", { hint }) : t("stored")} {isLocal && t("noKey")}
        </p>
        <TrialResult trial={trial} />
      </Step>
      <Step title={t("model")} htmlFor={`${id}-model`}>
        <input
          id={`${id}-model`}
          className="field"
          list={`${id}-models`}
          value={form.model}
          autoComplete="off"
          spellCheck={false}
          maxLength={100}
          onChange={(event) => onChange({ model: event.target.value })}
        />
        <datalist id={`${id}-models`}>
          {models.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <p className="soft small">{t("typed")}</p>
      </Step>
    </ol>
  );
}

function Step({ title, htmlFor, children }: { title: string; htmlFor?: string; children: ReactNode }) {
  return (
    <li className="setup-step">
      <h3>{htmlFor === undefined ? title : <label htmlFor={htmlFor}>{title}</label>}</h3>
      {children}
    </li>
  );
}

function TrialResult({ trial }: { trial: SetupTrial | null }) {
  const t = useTexts("setupFields");
  const language = useLanguage();
  const count = trial?.models?.length ?? 0;
  return (
    <div role="status">
      {trial?.ok === true && (
        <p className="note good">
          <Icon name="check" />
          {count === 0 ? t("worksUnlisted") : t("works", { n: count })}
        </p>
      )}
      {trial?.ok === false && (
        <p className="note bad">
          <Icon name="warning" />
          {trial.reason != null && <ForeignText text={translateReason(trial.reason, language)} />}
        </p>
      )}
    </div>
  );
}
