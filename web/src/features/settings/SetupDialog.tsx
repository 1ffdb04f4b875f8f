/** The set-up of the model: provider, key and model name. The set-up is tested before it is saved. */
import { useRef, useState } from "react";
import type { Setup, SetupTrial } from "../../api/schema";
import { useQuery, useAction, useLanguage, useAppServices } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { visibleName } from "../../ui/safeText";
import { notify } from "../../ui/Notices";
import { ForeignText } from "../../ui/ForeignText";
import { ProblemNote } from "../../ui/ProblemNote";
import { SetupFields } from "./SetupFields";
import { Skeleton } from "../../ui/Skeleton";
import { type SetupForm, requestBody, isComplete, isSameProvider, formFrom } from "./setupForm";
import { refreshModels, useModelLabel } from "../models/useModels";
import "./setup.css";

export function SetupDialog({ onClose }: { onClose(): void }) {
  const t = useTexts("setup");
  const setupQuery = useQuery("GET /api/setup", {});
  if (setupQuery.value !== null) return <SetupFormDialog setup={setupQuery.value} onClose={onClose} />;
  return (
    <Dialog title={t("title")} onClose={onClose}>
      {setupQuery.problem === null ? <Skeleton lines={5} /> : <ProblemNote problem={setupQuery.problem} />}
    </Dialog>
  );
}

function SetupFormDialog({ setup, onClose }: { setup: Setup; onClose(): void }) {
  const t = useTexts("setup");
  const language = useLanguage();
  const nameOf = useModelLabel();
  const { api } = useAppServices();
  const action = useAction();
  const [form, setForm] = useState<SetupForm>(() => formFrom(setup));
  const [trial, setTrial] = useState<SetupTrial | null>(null);
  const latest = useRef(form);
  latest.current = form;
  /** Tests the set-up. Returns whether the current fields work: the result is ignored if they changed meanwhile. */
  const runTrial = async () => {
    const result = await api("POST /api/setup/test", { body: requestBody(form) });
    if (isSameProvider(latest.current, form)) setTrial(result);
    return result.ok && latest.current === form;
  };
  const change = (next: Partial<SetupForm>) => {
    setForm({ ...form, ...next });
    // The list of models depends on the provider, and an error is obsolete after any change.
    if (next.model === undefined) setTrial(null);
    else if (trial?.ok === false) setTrial(null);
  };
  const finish = (text: "done" | "forgotten", newSetup: Setup) => {
    refreshModels();
    notify(t(text, { model: nameOf({ name: newSetup.model, is_demo: newSetup.is_demo }) }));
    onClose();
  };
  const test = () => action.run(runTrial);
  const save = () =>
    action.run(async () =>
      finish("done", await api("PUT /api/setup", { body: { ...requestBody(form), model: form.model.trim() } })),
    );
  const testAndSave = () =>
    action.run(async () => {
      if (await runTrial())
        finish("done", await api("PUT /api/setup", { body: { ...requestBody(form), model: form.model.trim() } }));
    });
  const forget = () => action.run(async () => finish("forgotten", await api("DELETE /api/setup", {})));
  const isReadOnly = setup.can_change !== true;
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t(setup.is_demo ? "demo" : "close")}</Button>
          {setup.key_from === "stored" && !isReadOnly && (
            <Button kind="danger" disabled={action.isBusy} onClick={() => void forget()}>
              {t("forget")}
            </Button>
          )}
          {!isReadOnly && trial?.ok === false && (
            <Button disabled={action.isBusy || !isComplete(form)} onClick={() => void save()}>
              {t("anyway")}
            </Button>
          )}
          {!isReadOnly && (
            <Button kind="primary" disabled={action.isBusy || !isComplete(form)} onClick={() => void testAndSave()}>
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
            <ForeignText text={translateReason(setup.reason, language)} />
          </p>
        )}
        {!isReadOnly && (
          <SetupFields
            setup={setup}
            form={form}
            trial={trial}
            isBusy={action.isBusy}
            onChange={change}
            onTest={() => void test()}
          />
        )}
        <ProblemNote problem={action.problem} />
      </div>
    </Dialog>
  );
}
