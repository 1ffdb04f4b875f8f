/** The menu of models and personas, for an existing or a new conversation. */
import type { ContextChange } from "../../api/schema";
import { problemOfError } from "../../api/types";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Icon } from "../../ui/icons";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine, visibleName } from "../../ui/safeText";
import { notify } from "../../ui/Notices";
import { translateProblem } from "../../ui/ProblemNote";
import { compactCount } from "../window/tokenFormat";
import { changeNewContextSettings, useNewContextSettings } from "./newContextSettings";
import { openDialog } from "../../app/dialogState";
import { useModels, useModelLabel, usePersonas } from "./useModels";
import "./model-menu.css";

/** The current model and persona, and a function to change them. */
function useModelSettings(id: string | null): {
  model: string | null;
  persona: string | null;
  set(change: Pick<ContextChange, "model" | "persona">): void;
} {
  const { api } = useAppServices();
  const language = useLanguage();
  const newContext = useNewContextSettings();
  const preferred = useSelector((state) => state.session.value?.preferences?.default_model ?? null);
  const config = useSelector((state) => (id === null ? null : (state.contexts[id]?.view.value?.config ?? null)), [id]);
  if (id === null)
    return { model: newContext.model ?? preferred, persona: newContext.persona, set: changeNewContextSettings };
  const set = (change: Pick<ContextChange, "model" | "persona">) => {
    const input = { path: { context_id: id }, body: change };
    api("PATCH /api/contexts/{context_id}", input, { lane: `settings ${id}` }).catch((error: unknown) =>
      notify(translateProblem(problemOfError(error), language), true),
    );
  };
  return { model: config?.model ?? null, persona: config?.persona ?? null, set };
}

export function ModelMenu({ id }: { id: string | null }) {
  const t = useTexts("modelMenu");
  const labelOf = useModelLabel();
  const models = useModels();
  const personas = usePersonas(id);
  const { model, persona, set } = useModelSettings(id);
  const defaultModel = models.find((each) => each.is_default);
  // A model that no longer exists is replaced by the default model.
  const current = models.find((each) => each.name === model) ?? defaultModel;
  const personaName = personas.find((each) => each.id === persona)?.name || persona;
  if (models.length === 0) return null;

  const modelName = current === undefined ? "" : current.is_demo ? t("demo") : visibleName(current.name);
  const buttonText = personaName === null ? modelName : `${modelName} · ${visibleName(personaName)}`;
  const modelEntries: MenuEntry[] = models.map((each, index) => ({
    key: `model ${each.name}`,
    ...(index === 0 ? { group: t("model") } : {}),
    label: labelOf(each),
    ...joinNotes([
      each.is_default && models.length > 1 && t("usual"),
      each.window !== null && t("window", { n: compactCount(each.window) }),
    ]),
    isSelected: each === current,
    // In a new conversation, null would select the preferred model.
    onSelect: () => set({ model: each.is_default && id !== null ? null : each.name }),
  }));
  const personaEntries: MenuEntry[] = [
    {
      key: "persona",
      group: t("persona"),
      label: t("none"),
      note: t("noneNote"),
      isSelected: persona === null,
      onSelect: () => set({ persona: null }),
    },
    ...personas.map((each) => ({
      key: `persona ${each.id}`,
      label: visibleName(each.name || each.id),
      ...(each.role === "" ? {} : { note: visibleLine(each.role) }),
      isSelected: each.id === persona,
      onSelect: () => set({ persona: each.id }),
    })),
  ];
  const setup: MenuEntry = {
    key: "setup",
    label: t("setup"),
    icon: <Icon name="gear" />,
    onSelect: () => openDialog("setup"),
  };
  return (
    <Menu
      label={t("label", {
        model: current === undefined ? modelName : labelOf(current),
        persona: personaName ?? t("none"),
      })}
      buttonClass={`button quiet small model-button ${current?.is_demo === true ? "is-demo" : ""}`}
      placement="above"
      button={
        <>
          <span className="model-name">
            <ForeignText text={buttonText} />
          </span>
          <Icon name="chevron" size={14} />
        </>
      }
      entries={[...modelEntries, ...(personas.length > 0 ? personaEntries : []), setup]}
    />
  );
}

function joinNotes(notes: readonly (string | false)[]): { note?: string } {
  const text = notes.filter((note) => note !== false).join(" · ");
  return text === "" ? {} : { note: text };
}
