/** Shown instead of a conversation that cannot be displayed: the reason and the next step. */
import type { Problem } from "../../api/schema";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { say } from "../../i18n/say";
import { useTexts } from "../../i18n/texts";
import { branchLength, fallbackTab, visibleMessages } from "../../store/selectors";
import type { State } from "../../store/state";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { sayProblem } from "../../ui/ProblemNote";
import { Skeleton } from "../../ui/Skeleton";
import "./context-error.css";

/** The content of the main area. */
export type ContextPlace = "new" | "talk" | "loading" | "gone" | "problem" | "refused";

export function contextPlace(state: State, id: string | null): ContextPlace {
  const replica = id === null ? undefined : state.contexts[id];
  const isLoaded = replica?.view.value != null;
  if (state.connection.is === "refused" && !isLoaded) return "refused";
  if (id === null) return state.session.value === null ? "loading" : "new";
  if (replica?.isGone === true) return "gone";
  if (!isLoaded) return replica?.problem == null ? "loading" : "problem";
  return branchLength(state, id) === 0 && visibleMessages(state, id).sending.length === 0 ? "new" : "talk";
}

export function ContextError({ id, place }: { id: string | null; place: Exclude<ContextPlace, "new" | "talk"> }) {
  const t = useTexts("contextError");
  const language = useLanguage();
  const { act } = useAppServices();
  const next = useSelector((state) => fallbackTab(state, id));
  const problem = useSelector((state): Problem | null => state.contexts[id ?? ""]?.problem ?? null, [id]);
  if (place === "loading") {
    return (
      <div className="context-error is-loading">
        <Skeleton lines={8} />
      </div>
    );
  }
  return (
    <section className="context-error">
      <Icon name="warning" size={36} />
      <h1>{t(place)}</h1>
      <p className="soft">
        {place === "problem"
          ? problem !== null && sayProblem(problem, language)
          : t(place === "gone" ? "goneText" : "refusedText")}
      </p>
      {place === "refused" && (
        <Button icon="retry" onClick={() => location.reload()}>
          {t("reload")}
        </Button>
      )}
      {place !== "refused" && id !== null && (
        <Button
          icon="close"
          onClick={() => act(place === "gone" ? { kind: "activate", id: next } : { kind: "close", id })}
        >
          {t("close")}
        </Button>
      )}
    </section>
  );
}

/** Lists the damaged parts of an open conversation. */
export function DamageNote({ id }: { id: string }) {
  const t = useTexts("contextError");
  const language = useLanguage();
  const damage = useSelector((state) => state.contexts[id]?.view.value?.damage ?? [], [id]);
  if (damage.length === 0) return null;
  return (
    <div className="note bad damage" role="status">
      <Icon name="warning" />
      <div>
        {t("damage")} <ForeignText text={damage.map((reason) => say(reason, language)).join(" ")} />
      </div>
    </div>
  );
}
