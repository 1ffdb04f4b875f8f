/** Which model answers, and as which persona: of a conversation, or of the one that is about to begin. */
import type { ContextChange } from "../../api/schema";
import { problemOfError } from "../../api/types";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Icon } from "../../ui/icons";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine, visibleName } from "../../ui/names";
import { notify } from "../../ui/Notices";
import { sayProblem } from "../../ui/ProblemNote";
import { compact } from "../window/tokens";
import { choose, useChosen } from "./chosen";
import { openDialog } from "./opened";
import { useModels, useNameOfModel, usePersonas } from "./useModels";
import "./model.css";

const WORDS = {
  label: ["Model: {model}. Persona: {persona}", "模型：{model}。角色：{persona}"],
  demo: ["Demo model", "演示模型"],
  model: ["Model", "模型"],
  persona: ["Persona", "角色"],
  none: ["None", "无"],
  noneNote: ["No persona: as the model is", "不使用角色"],
  usual: ["usual", "默认"],
  window: ["{n} tokens", "{n} 个 token"],
  setup: ["Set up a model…", "设置模型……"],
} as const;

/** What of them holds now, and the way to change it. */
function useSetting(id: string | null): {
  model: string | null;
  persona: string | null;
  set(change: Pick<ContextChange, "model" | "persona">): void;
} {
  const { api } = usePage();
  const language = useLanguage();
  const chosen = useChosen();
  const preferred = useSlice((state) => state.session.value?.preferences?.default_model ?? null);
  const config = useSlice((state) => (id === null ? null : (state.contexts[id]?.shape.value?.config ?? null)), [id]);
  if (id === null) return { model: chosen.model ?? preferred, persona: chosen.persona, set: choose };
  const set = (change: Pick<ContextChange, "model" | "persona">) => {
    const given = { path: { context_id: id }, body: change };
    api("PATCH /api/contexts/{context_id}", given, { lane: `settings ${id}` }).catch((error: unknown) =>
      notify(sayProblem(problemOfError(error), language), true),
    );
  };
  return { model: config?.model ?? null, persona: config?.persona ?? null, set };
}

export function ModelMenu({ id }: { id: string | null }) {
  const t = useWords(WORDS);
  const nameOf = useNameOfModel();
  const models = useModels();
  const personas = usePersonas(id);
  const { model, persona, set } = useSetting(id);
  const usual = models.find((each) => each.is_default);
  const present = models.find((each) => each.name === model) ?? usual; // one that is gone is replaced by the usual one
  const personaName = personas.find((each) => each.id === persona)?.name || persona;
  if (models.length === 0) return null;

  const short = present === undefined ? "" : present.is_demo ? t("demo") : visibleName(present.name);
  const shown = personaName === null ? short : `${short} · ${visibleName(personaName)}`;
  const ofModels: MenuEntry[] = models.map((each, index) => ({
    key: `model ${each.name}`,
    ...(index === 0 ? { group: t("model") } : {}),
    label: nameOf(each),
    ...notesOf([
      each.is_default && models.length > 1 && t("usual"),
      each.window !== null && t("window", { n: compact(each.window) }),
    ]),
    isChosen: each === present,
    onChoose: () => set({ model: each.is_default && id !== null ? null : each.name }), // here a preference may stand before it
  }));
  const ofPersonas: MenuEntry[] = [
    {
      key: "persona",
      group: t("persona"),
      label: t("none"),
      note: t("noneNote"),
      isChosen: persona === null,
      onChoose: () => set({ persona: null }),
    },
    ...personas.map((each) => ({
      key: `persona ${each.id}`,
      label: visibleName(each.name || each.id),
      ...(each.role === "" ? {} : { note: visibleLine(each.role) }),
      isChosen: each.id === persona,
      onChoose: () => set({ persona: each.id }),
    })),
  ];
  const setup: MenuEntry = {
    key: "setup",
    label: t("setup"),
    sign: <Icon name="gear" />,
    onChoose: () => openDialog("setup"),
  };
  return (
    <Menu
      label={t("label", { model: present === undefined ? short : nameOf(present), persona: personaName ?? t("none") })}
      buttonClass={`button quiet small model-button ${present?.is_demo === true ? "is-demo" : ""}`}
      place="above"
      button={
        <>
          <span className="model-name">
            <ForeignText text={shown} />
          </span>
          <Icon name="chevron" size={14} />
        </>
      }
      entries={[...ofModels, ...(personas.length > 0 ? ofPersonas : []), setup]}
    />
  );
}

function notesOf(notes: readonly (string | false)[]): { note?: string } {
  const said = notes.filter((note) => note !== false).join(" · ");
  return said === "" ? {} : { note: said };
}
