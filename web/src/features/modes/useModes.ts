/** The modes that there are. They change only with the server's configuration, so they are asked for once a language. */
import type { ModeShape } from "../../api/schema";
import { useAsked, useLanguage, useSlice } from "../../app/page";
import { visibleName } from "../../ui/names";

const NONE: readonly ModeShape[] = [];

export function useModes(): readonly ModeShape[] {
  const isUp = useSlice((state) => state.connection.is === "up");
  const language = useLanguage();
  return useAsked("GET /api/modes", {}, `${language} ${isUp}`).value?.items ?? NONE;
}

export function useModeTitle(): (name: string) => string {
  const modes = useModes();
  return (name) => visibleName(modes.find((mode) => mode.name === name)?.title ?? name);
}
