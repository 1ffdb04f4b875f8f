/** The three steps of the set-up, on one page: the provider, the key, the model. */
import { type ReactNode, useId, useState } from "react";
import type { Setup, SetupTrial } from "../../api/schema";
import { useLanguage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { type Wanted, addressOf, keepsKey } from "./setup";

const WORDS = {
  provider: ["Provider", "提供方"],
  openai: ["OpenAI", "OpenAI"],
  own: ["Another one that speaks the same language, or a server of your own", "兼容的其他提供方，或你自己的服务器"],
  address: ["Address", "地址"],
  key: ["Key", "密钥"],
  keptKey: ["One is kept already{hint}. Leave this empty to keep it.", "已保存一个密钥{hint}。留空即可继续使用。"],
  hint: [" (…{end})", "（…{end}）"],
  noKey: ["A server on this computer often needs none.", "本机服务器通常不需要密钥。"],
  stored: [
    "It is kept on this server in its data folder, for its own user only, and never shown again. No file tool can read it; a command that you approve, or that runs in agent mode, runs as that user and could.",
    "密钥保存在此服务器的数据文件夹中，仅其用户可读，之后不会再次显示。文件工具无法读取；但你批准的命令或 agent 模式下的命令以该用户身份运行，有可能读取。",
  ],
  show: ["Show the key", "显示密钥"],
  test: ["Test", "测试"],
  testing: ["Testing…", "测试中……"],
  works: ["It works. {n|One model|{n} models}.", "可用。{n} 个模型。"],
  worksUnlisted: ["It works. It lists no models: type the name of one.", "可用。未列出模型：请输入模型名称。"],
  model: ["Model", "模型"],
  typed: ["Choose or type one. After a test, the provider's list is offered.", "选择或输入。测试后会提供模型列表。"],
} as const;

interface Given {
  setup: Setup;
  wanted: Wanted;
  trial: SetupTrial | null;
  isBusy: boolean;
  onChange(next: Partial<Wanted>): void;
  onTest(): void;
}

export function SetupFields({ setup, wanted, trial, isBusy, onChange, onTest }: Given) {
  const t = useWords(WORDS);
  const [isShown, setShown] = useState(false);
  const id = useId();
  const models = trial?.models ?? [];
  const hint = setup.key_hint == null ? "" : t("hint", { end: setup.key_hint });
  const isLocal = /^https?:\/\/(localhost|127\.|\[::1\])/.test(addressOf(wanted));
  return (
    <ol className="setup">
      <Step title={t("provider")}>
        <Choice
          legend={t("provider")}
          value={wanted.where}
          options={[
            { value: "openai", label: t("openai") },
            { value: "own", label: t("own") },
          ]}
          onChange={(where) => onChange({ where })}
        />
        {wanted.where === "own" && (
          <input
            className="field"
            type="url"
            aria-label={t("address")}
            placeholder="http://127.0.0.1:11434/v1"
            value={wanted.address}
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
            type={isShown ? "text" : "password"}
            value={wanted.key}
            placeholder={keepsKey(setup, wanted) ? "••••••••" : ""}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ key: event.target.value })}
          />
          <Button disabled={isBusy || addressOf(wanted) === ""} onClick={onTest}>
            {t(isBusy ? "testing" : "test")}
          </Button>
        </div>
        <label className="check small">
          <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} />
          <span>{t("show")}</span>
        </label>
        <p className="soft small">
          {keepsKey(setup, wanted) ? t("keptKey", { hint }) : t("stored")} {isLocal && t("noKey")}
        </p>
        <Outcome trial={trial} />
      </Step>
      <Step title={t("model")} htmlFor={`${id}-model`}>
        <input
          id={`${id}-model`}
          className="field"
          list={`${id}-models`}
          value={wanted.model}
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

function Outcome({ trial }: { trial: SetupTrial | null }) {
  const t = useWords(WORDS);
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
          {trial.reason != null && <ForeignText text={say(trial.reason, language)} />}
        </p>
      )}
    </div>
  );
}
