/** Shows that the server cannot save, in every conversation. */
import { useEffect, useRef } from "react";
import type { Code, Health } from "../../api/schema";
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
  const isUp = useSelector((state) => state.connection.status === "up");
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

/** The number of commands that failed because the server could not save. Each one triggers a health request. */
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

/** Problems with which the server can save: each conversation shows them. */
const RULES_PROBLEMS: readonly Code[] = ["rules_cut", "rules_damaged", "audit_broken"];

/** Whether the health status reports a store that cannot save. */
export function isStoreRefused(health: Health | null): boolean {
  if (health === null || ["ok", "stopping"].includes(health.status)) return false;
  const problems = health.problems ?? [];
  return problems.length === 0 || problems.some((problem) => !RULES_PROBLEMS.includes(problem.code));
}

/** An open conversation that waits to be saved. The selected one reports that itself. */
function unsavedElsewhere(state: State): string | null {
  const replica = Object.values(state.contexts).find(
    ({ id, view }) => id !== activeId(state) && view.value?.current_state.type === "waiting_for_recovery",
  );
  return replica?.id ?? null;
}
