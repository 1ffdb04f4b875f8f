/** Which model answers: where it is, the key for it, its name. It is tried before it is used, and used at once. */
import { useRef, useState } from "react";
import type { Setup, SetupTrial } from "../../api/schema";
import { useAsked, useDoing, useLanguage, usePage } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { visibleName } from "../../ui/names";
import { notify } from "../../ui/Notices";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { SetupFields } from "./SetupFields";
import { Skeleton } from "./Skeleton";
import { type Wanted, bodyOf, isComplete, isSameProvider, wantedFrom } from "./setup";
import { modelsChanged, useNameOfModel } from "./useModels";
import "./setup.css";

const WORDS = {
  title: ["Set up a model", "设置模型"],
  now: ["Now: {model}", "当前：{model}"],
  use: ["Test and use it", "测试并使用"],
  anyway: ["Use it all the same", "仍然使用"],
  demo: ["Try the demo first", "先试用演示模型"],
  close: ["Close", "关闭"],
  forget: ["Forget the key", "删除密钥"],
  forgotten: ["Forgotten. Now: {model}", "已删除。当前：{model}"],
  done: ["From now on: {model}", "从现在起使用：{model}"],
} as const;

export function SetupDialog({ onClose }: { onClose(): void }) {
  const t = useWords(WORDS);
  const asked = useAsked("GET /api/setup", {});
  if (asked.value !== null) return <SetupForm setup={asked.value} onClose={onClose} />;
  return (
    <Dialog title={t("title")} onClose={onClose}>
      {asked.problem === null ? <Skeleton lines={5} /> : <ProblemNote problem={asked.problem} />}
    </Dialog>
  );
}

function SetupForm({ setup, onClose }: { setup: Setup; onClose(): void }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const nameOf = useNameOfModel();
  const { api } = usePage();
  const doing = useDoing();
  const [wanted, setWanted] = useState<Wanted>(() => wantedFrom(setup));
  const [trial, setTrial] = useState<SetupTrial | null>(null);
  const latest = useRef(wanted);
  latest.current = wanted;
  /** Gives whether the fields work as they are now. A trial of what was changed meanwhile says nothing about them. */
  const tryOut = async () => {
    const found = await api("POST /api/setup/test", { body: bodyOf(wanted) });
    if (isSameProvider(latest.current, wanted)) setTrial(found);
    return found.ok && latest.current === wanted;
  };
  const change = (next: Partial<Wanted>) => {
    setWanted({ ...wanted, ...next });
    // Which models there are depends on where they are; what went wrong is over once something is changed.
    if (next.model === undefined) setTrial(null);
    else if (trial?.ok === false) setTrial(null);
  };
  const tell = (text: "done" | "forgotten", found: Setup) => {
    modelsChanged();
    notify(t(text, { model: nameOf({ name: found.model, is_demo: found.is_demo }) }));
    onClose();
  };
  const test = () => doing.run(tryOut);
  const save = () =>
    doing.run(async () =>
      tell("done", await api("PUT /api/setup", { body: { ...bodyOf(wanted), model: wanted.model.trim() } })),
    );
  const testAndSave = () =>
    doing.run(async () => {
      if (await tryOut())
        tell("done", await api("PUT /api/setup", { body: { ...bodyOf(wanted), model: wanted.model.trim() } }));
    });
  const forget = () => doing.run(async () => tell("forgotten", await api("DELETE /api/setup", {})));
  const isOff = setup.can_change !== true;
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t(setup.is_demo ? "demo" : "close")}</Button>
          {setup.key_from === "stored" && !isOff && (
            <Button kind="danger" disabled={doing.isBusy} onClick={() => void forget()}>
              {t("forget")}
            </Button>
          )}
          {!isOff && trial?.ok === false && (
            <Button disabled={doing.isBusy || !isComplete(wanted)} onClick={() => void save()}>
              {t("anyway")}
            </Button>
          )}
          {!isOff && (
            <Button kind="primary" disabled={doing.isBusy || !isComplete(wanted)} onClick={() => void testAndSave()}>
              {t("use")}
            </Button>
          )}
        </>
      }
    >
      <div className="dialog-stack">
        <p className="soft">
          {t("now", { model: setup.is_demo ? nameOf({ name: setup.model, is_demo: true }) : visibleName(setup.model) })}
        </p>
        {setup.reason != null && (
          <p className="note">
            <ForeignText text={say(setup.reason, language)} />
          </p>
        )}
        {!isOff && (
          <SetupFields
            setup={setup}
            wanted={wanted}
            trial={trial}
            isBusy={doing.isBusy}
            onChange={change}
            onTest={() => void test()}
          />
        )}
        <ProblemNote problem={doing.problem} />
      </div>
    </Dialog>
  );
}
