/** The available models and personas. They are fetched again after a change of the set-up. */
import type { ModelView, PersonaView } from "../../api/schema";
import { createAtom, useAtom } from "../../app/atom";
import { useQuery, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { visibleName } from "../../ui/safeText";

const NO_MODELS: readonly ModelView[] = [];
const NO_PERSONAS: readonly PersonaView[] = [];

const setupChanges = createAtom(0);

/** Fetches the models again after a change of the set-up. */
export function refreshModels(): void {
  setupChanges.set(setupChanges.getSnapshot() + 1);
}

export function useModels(): readonly ModelView[] {
  const changes = useAtom(setupChanges);
  const isUp = useSelector((state) => state.connection.status === "up");
  return useQuery("GET /api/models", {}, `${isUp} ${changes}`).value?.items ?? NO_MODELS;
}

/** The personas available to a conversation, or to a new one. */
export function usePersonas(id: string | null, version: unknown = null): readonly PersonaView[] {
  const personas = useQuery("GET /api/personas", id === null ? {} : { query: { context_id: id } }, version).value
    ?.items;
  return personas?.filter((persona) => !persona.hidden) ?? NO_PERSONAS;
}

/** Returns a function that names a model; the demo model is always labelled as such. */
export function useModelLabel(): (model: Pick<ModelView, "name" | "is_demo">) => string {
  const t = useTexts("models");
  return (model) => (model.is_demo ? t("demo") : visibleName(model.name));
}

/** The displayed name of a model. A missing or unknown name yields the default model. */
export function useModelName(name: string | null): string {
  const nameOf = useModelLabel();
  const models = useModels();
  const model = models.find((each) => each.name === name) ?? models.find((each) => each.is_default);
  return model === undefined ? visibleName(name ?? "") : nameOf(model);
}
