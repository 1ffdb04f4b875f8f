/** In the place of a conversation that cannot be shown: why, and the way on. */
import type { Problem } from "../../api/schema";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { say } from "../../i18n/say";
import { useWords } from "../../i18n/words";
import { lengthOf, nextTo, visible } from "../../store/selectors";
import type { State } from "../../store/state";
import { Button } from "../../ui/Button";
import { ForeignText } from "../../ui/ForeignText";
import { Icon } from "../../ui/icons";
import { sayProblem } from "../../ui/ProblemNote";
import { Skeleton } from "./Skeleton";
import "./trouble.css";

const WORDS = {
  gone: ["This conversation is gone", "此对话已不存在"],
  goneText: ["It was deleted, here or on another device.", "它已被删除，可能是在此处或其他设备上。"],
  problem: ["This conversation cannot be opened", "无法打开此对话"],
  refused: ["You are signed out", "你已退出登录"],
  refusedText: [
    "Run `pilothouse open` on the server's machine (with its --data-dir, if it has one) and open the link it prints. Each link works once, for a minute.",
    "请在服务器所在的机器上运行 `pilothouse open`（如服务器使用了 --data-dir，请加上），并打开它显示的链接。每个链接只能使用一次，一分钟内有效。",
  ],
  close: ["Close the tab", "关闭标签页"],
  reload: ["Try again", "重试"],
  damage: ["Parts of this conversation are damaged:", "此对话有部分内容已损坏："],
} as const;

/** What is in the place of the conversation. */
export type Face = "new" | "talk" | "loading" | "gone" | "problem" | "refused";

export function faceOf(state: State, id: string | null): Face {
  const copy = id === null ? undefined : state.contexts[id];
  const isKnown = copy?.shape.value != null;
  if (state.connection.is === "refused" && !isKnown) return "refused";
  if (id === null) return state.session.value === null ? "loading" : "new";
  if (copy?.isGone === true) return "gone";
  if (!isKnown) return copy?.problem == null ? "loading" : "problem";
  return lengthOf(state, id) === 0 && visible(state, id).sending.length === 0 ? "new" : "talk";
}

export function Trouble({ id, face }: { id: string | null; face: Exclude<Face, "new" | "talk"> }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act } = usePage();
  const next = useSlice((state) => nextTo(state, id));
  const problem = useSlice((state): Problem | null => state.contexts[id ?? ""]?.problem ?? null, [id]);
  if (face === "loading") {
    return (
      <div className="trouble is-loading">
        <Skeleton lines={8} />
      </div>
    );
  }
  return (
    <section className="trouble">
      <Icon name="warning" size={36} />
      <h1>{t(face)}</h1>
      <p className="soft">
        {face === "problem"
          ? problem !== null && sayProblem(problem, language)
          : t(face === "gone" ? "goneText" : "refusedText")}
      </p>
      {face === "refused" && (
        <Button icon="retry" onClick={() => location.reload()}>
          {t("reload")}
        </Button>
      )}
      {face !== "refused" && id !== null && (
        <Button
          icon="close"
          onClick={() => act(face === "gone" ? { kind: "activate", id: next } : { kind: "close", id })}
        >
          {t("close")}
        </Button>
      )}
    </section>
  );
}

/** What of an open conversation is damaged. */
export function DamageNote({ id }: { id: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const damage = useSlice((state) => state.contexts[id]?.shape.value?.damage ?? [], [id]);
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
