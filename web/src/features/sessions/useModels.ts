/** The models and personas that there are, and what each is called. They change with the set-up. */
import type { ModelShape, PersonaShape } from "../../api/schema";
import { makeCell, useCell } from "../../app/cell";
import { useAsked, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { visibleName } from "../../ui/names";

const WORDS = { demo: ["Demo model – no key, no intelligence", "演示模型——无需密钥，没有智能"] } as const;
const NO_MODELS: readonly ModelShape[] = [];
const NO_PERSONAS: readonly PersonaShape[] = [];

const changes = makeCell(0);

/** The set-up was changed: there may be others now. */
export function modelsChanged(): void {
  changes.set(changes.getSnapshot() + 1);
}

export function useModels(): readonly ModelShape[] {
  const changed = useCell(changes);
  const isUp = useSlice((state) => state.connection.is === "up");
  return useAsked("GET /api/models", {}, `${isUp} ${changed}`).value?.items ?? NO_MODELS;
}

/** Those that can be chosen in a conversation, or in a new one. */
export function usePersonas(id: string | null, since: unknown = null): readonly PersonaShape[] {
  const found = useAsked("GET /api/personas", id === null ? {} : { query: { context_id: id } }, since).value?.items;
  return found?.filter((persona) => !persona.hidden) ?? NO_PERSONAS;
}

/** What a model is called: a demo never passes for more than it is. */
export function useNameOfModel(): (model: Pick<ModelShape, "name" | "is_demo">) => string {
  const t = useWords(WORDS);
  return (model) => (model.is_demo ? t("demo") : visibleName(model.name));
}

/** The name of one; of the usual one, where it is not named or gone. */
export function useModelName(name: string | null): string {
  const nameOf = useNameOfModel();
  const models = useModels();
  const model = models.find((each) => each.name === name) ?? models.find((each) => each.is_default);
  return model === undefined ? visibleName(name ?? "") : nameOf(model);
}
