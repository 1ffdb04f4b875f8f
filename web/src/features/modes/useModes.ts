/**
 * The available modes. They change with the server's configuration; the default mode also changes with the preference.
 */
import type { ModeView } from "../../api/schema";
import { useQuery, useLanguage, useSelector } from "../../app/appServices";
import { visibleName } from "../../ui/safeText";

const NO_MODES: readonly ModeView[] = [];

export function useModes(): readonly ModeView[] {
  const isUp = useSelector((state) => state.connection.status === "up");
  const language = useLanguage();
  const preferred = useSelector((state) => state.session.value?.preferences?.default_mode ?? "");
  return useQuery("GET /api/modes", {}, `${language} ${isUp} ${preferred}`).value?.items ?? NO_MODES;
}

export function useModeTitle(): (name: string) => string {
  const modes = useModes();
  return (name) => visibleName(modes.find((mode) => mode.name === name)?.title ?? name);
}
