/** The modes that there are. They change only with the server's configuration; which is the default, also with the
 * preference. */
import type { ModeShape } from "../../api/schema";
import { useAsked, useLanguage, useSlice } from "../../app/page";
import { visibleName } from "../../ui/names";

const NONE: readonly ModeShape[] = [];

export function useModes(): readonly ModeShape[] {
  const isUp = useSlice((state) => state.connection.is === "up");
  const language = useLanguage();
  const preferred = useSlice((state) => state.session.value?.preferences?.default_mode ?? "");
  return useAsked("GET /api/modes", {}, `${language} ${isUp} ${preferred}`).value?.items ?? NONE;
}

export function useModeTitle(): (name: string) => string {
  const modes = useModes();
  return (name) => visibleName(modes.find((mode) => mode.name === name)?.title ?? name);
}
