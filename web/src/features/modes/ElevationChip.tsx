/** The remaining elevation with its countdown; a click ends the elevation. */
import { useEffect, useState } from "react";
import { useAction, useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { type Texts, useTexts } from "../../i18n/texts";
import { isConnected } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { notify } from "../../ui/Notices";
import { translateProblem } from "../../ui/ProblemNote";
import { type RemainingElevation, remainingElevation } from "./remainingElevation";

export function ElevationChip({ id }: { id: string }) {
  const t = useTexts("elevation");
  const language = useLanguage();
  const { environment, api } = useAppServices();
  const elevation = useSelector((state) => state.contexts[id]?.view.value?.elevation ?? null, [id]);
  const isOnline = useSelector(isConnected);
  const action = useAction();
  const [now, setNow] = useState(environment.now());
  const until = elevation?.until ?? null;
  useEffect(() => {
    if (until === null) return;
    setNow(environment.now());
    const timer = setInterval(() => setNow(environment.now()), 1_000);
    return () => clearInterval(timer);
  }, [until, environment]);
  useEffect(() => {
    if (action.problem !== null) notify(translateProblem(action.problem, language), true);
  }, [action.problem, language]);
  const remaining = elevation === null ? null : remainingElevation(elevation, now);
  if (remaining === null) return null;
  return (
    <Button
      kind="small"
      icon="close"
      extraClass="elevation-chip"
      title={t("end")}
      aria-label={`${remainingText(remaining, t)}. ${t("end")}`}
      disabledReason={isOnline ? null : t("offline")}
      onClick={() =>
        void action.run(() => api("DELETE /api/contexts/{context_id}/elevation", { path: { context_id: id } }))
      }
    >
      {remainingText(remaining, t)}
    </Button>
  );
}

function remainingText(remaining: NonNullable<RemainingElevation>, t: Texts<"elevation">): string {
  switch (remaining.kind) {
    case "calls":
      return t("calls", { n: remaining.n });
    case "turn":
      return t("turn");
    case "time":
      return t("time", { clock: remaining.clock });
  }
}
