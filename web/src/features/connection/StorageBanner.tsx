/** Says that the server cannot save, wherever the person looks. */
import { useEffect, useRef } from "react";
import type { Health } from "../../api/schema";
import { isUnsaved } from "../../api/types";
import { useQuery, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { type State, activeId } from "../../store/state";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { usePeriodicRefresh } from "../conversations/useConversations";
import "./banner.css";

export function StorageBanner() {
  const t = useTexts("storage");
  const { act } = useAppServices();
  const isUp = useSelector((state) => state.connection.is === "up");
  const unsaved = useSelector(unsavedElsewhere);
  const refusals = useUnsavedCount();
  const health = useQuery("GET /api/health", {}, `${isUp} ${usePeriodicRefresh()} ${refusals}`).value;
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
  const unsavedKeysSeen = useRef(new Set<string>());
  const keys = useSelector((state) => unsavedKeys(state).join(" "));
  for (const key of keys.split(" ")) if (key !== "") unsavedKeysSeen.current.add(key);
  return unsavedKeysSeen.current.size;
}

function unsavedKeys(state: State): readonly string[] {
  return Object.values(state.outgoing).flatMap(({ key, problem }) =>
    problem !== null && isUnsaved(problem) ? [key] : [],
  );
}

/** A server that can save says that it is well, or that it is about to stop. */
export function isStoreRefused(health: Health | null): boolean {
  return health !== null && !["ok", "stopping"].includes(health.status);
}

/** An open conversation that waits to be saved. The one that is looked at says so itself. */
function unsavedElsewhere(state: State): string | null {
  const replica = Object.values(state.contexts).find(
    ({ id, view }) => id !== activeId(state) && view.value?.current_state.type === "waiting_for_recovery",
  );
  return replica?.id ?? null;
}
