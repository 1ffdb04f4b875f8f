/** Says that the server cannot save, wherever the person looks. */
import { useEffect, useRef } from "react";
import type { Health } from "../../api/schema";
import { isUnsaved } from "../../api/types";
import { useAsked, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { type State, activeId } from "../../store/state";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { useFreshness } from "../sessions/useConversations";
import "./banner.css";

const WORDS = {
  store: [
    "The server cannot save: its disk may be full, or its data folder not writable.",
    "服务器无法保存：磁盘可能已满，或数据文件夹不可写。",
  ],
  open: ["Open the conversation", "打开对话"],
} as const;

export function StoreBanner() {
  const t = useWords(WORDS);
  const { act } = usePage();
  const isUp = useSlice((state) => state.connection.is === "up");
  const unsaved = useSlice(unsavedElsewhere);
  const refusals = useUnsavedCount();
  const health = useAsked("GET /api/health", {}, `${isUp} ${useFreshness()} ${refusals}`).value;
  const isShown = isUp && (unsaved !== null || isStoreRefused(health));
  useEffect(() => {
    if (isShown) announce(t("store"), true);
  }, [isShown]);
  if (!isShown) return null;
  return (
    <div className="banner is-down">
      <Icon name="warning" />
      {t("store")}
      {unsaved !== null && (
        <Button kind="small" onClick={() => act({ kind: "activate", id: unsaved })}>
          {t("open")}
        </Button>
      )}
    </div>
  );
}

/** How many things the server has not saved although it was asked to. Each is a reason to ask how it is. */
function useUnsavedCount(): number {
  const seen = useRef(new Set<string>());
  const keys = useSlice((state) => unsavedKeys(state).join(" "));
  for (const key of keys.split(" ")) if (key !== "") seen.current.add(key);
  return seen.current.size;
}

export function unsavedKeys(state: State): readonly string[] {
  return Object.values(state.outgoing).flatMap(({ key, problem }) =>
    problem !== null && isUnsaved(problem) ? [key] : [],
  );
}

/** A server that can save says that it is well, or that it is about to stop. */
export function isStoreRefused(health: Health | null): boolean {
  return health !== null && !["ok", "stopping"].includes(health.status);
}

/** An open conversation that waits to be saved. The one that is looked at says so itself. */
export function unsavedElsewhere(state: State): string | null {
  const found = Object.values(state.contexts).find(
    ({ id, shape }) => id !== activeId(state) && shape.value?.current_state.type === "waiting_for_recovery",
  );
  return found?.id ?? null;
}
