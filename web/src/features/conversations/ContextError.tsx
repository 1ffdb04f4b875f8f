/** Shown instead of a conversation that cannot be displayed: the reason and the next step. */
import type { Problem } from "../../api/schema";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { translateReason } from "../../i18n/serverTexts";
import { useTexts } from "../../i18n/texts";
import { branchLength, fallbackTab, visibleMessages } from "../../store/selectors";
import type { State } from "../../store/state";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { translateProblem } from "../../ui/ProblemNote";
import { Skeleton } from "../../ui/Skeleton";
import "./context-error.css";

/** The content of the main area. */
type MainView = "new" | "transcript" | "loading" | "gone" | "problem" | "refused";

export function mainViewOf(state: State, id: string | null): MainView {
  const replica = id === null ? undefined : state.contexts[id];
  const isLoaded = replica?.view.value != null;
  if (state.connection.status === "refused" && !isLoaded) return "refused";
  if (id === null) return state.session.value === null ? "loading" : "new";
  if (replica?.isGone === true) return "gone";
  if (!isLoaded) return replica?.problem == null ? "loading" : "problem";
  return branchLength(state, id) === 0 && visibleMessages(state, id).sending.length === 0 ? "new" : "transcript";
}

export function ContextError({ id, view }: { id: string | null; view: Exclude<MainView, "new" | "transcript"> }) {
  const t = useTexts("contextError");
  const language = useLanguage();
  const { act } = useAppServices();
  const next = useSelector((state) => fallbackTab(state, id));
  const problem = useSelector((state): Problem | null => state.contexts[id ?? ""]?.problem ?? null, [id]);
  if (view === "loading") {
    return (
      <div className="context-error is-loading">
        <Skeleton lines={8} />
      </div>
    );
  }
  return (
    <section className="context-error">
      <Icon name="warning" size={36} />
      <h1>{t(view)}</h1>
      <p className="soft">
        {view === "problem"
          ? problem !== null && translateProblem(problem, language)
          : t(view === "gone" ? "goneText" : "refusedText")}
      </p>
      {view === "refused" && (
        <Button icon="retry" onClick={() => location.reload()}>
          {t("reload")}
        </Button>
      )}
      {view !== "refused" && id !== null && (
        <Button
          icon="close"
          onClick={() => act(view === "gone" ? { kind: "activate", id: next } : { kind: "close", id })}
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
        {t("damage")} <ForeignText text={damage.map((reason) => translateReason(reason, language)).join(" ")} />
      </div>
    </div>
  );
}
