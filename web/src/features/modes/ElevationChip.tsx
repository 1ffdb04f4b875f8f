/** What is left of an elevation, with its countdown and its end. */
import { useEffect, useState } from "react";
import { useDoing, useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { isConnected } from "../../store/selectors";
import { Button } from "../../ui/Button";
import { notify } from "../../ui/Notices";
import { sayProblem } from "../../ui/ProblemNote";
import { type Left, leftOf } from "./elevations";

const WORDS = {
  calls: ["Elevated: {n} {n|call|calls}", "已放宽：{n} 个调用"],
  turn: ["Elevated: this turn", "已放宽：本轮"],
  time: ["Elevated: {clock}", "已放宽：{clock}"],
  end: ["It runs calls as in agent mode. End that now.", "正在像 agent 模式那样运行调用。立即结束。"],
  offline: ["There is no connection", "没有连接"],
} as const;

export function ElevationChip({ id }: { id: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { ambient, api } = usePage();
  const elevation = useSlice((state) => state.contexts[id]?.shape.value?.elevation ?? null, [id]);
  const isOn = useSlice(isConnected);
  const doing = useDoing();
  const [now, setNow] = useState(ambient.now());
  const until = elevation?.until ?? null;
  useEffect(() => {
    if (until === null) return;
    setNow(ambient.now());
    const timer = setInterval(() => setNow(ambient.now()), 1_000);
    return () => clearInterval(timer);
  }, [until, ambient]);
  useEffect(() => {
    if (doing.problem !== null) notify(sayProblem(doing.problem, language), true);
  }, [doing.problem, language]);
  const left = elevation === null ? null : leftOf(elevation, now);
  if (left === null) return null;
  return (
    <Button
      kind="small"
      icon="close"
      extraClass="elevation-chip"
      title={t("end")}
      aria-label={`${wordsOf(left, t)}. ${t("end")}`}
      whyNot={isOn ? null : t("offline")}
      onClick={() =>
        void doing.run(() => api("DELETE /api/contexts/{context_id}/elevation", { path: { context_id: id } }))
      }
    >
      {wordsOf(left, t)}
    </Button>
  );
}

function wordsOf(left: NonNullable<Left>, t: ReturnType<typeof useWords<typeof WORDS>>): string {
  switch (left.kind) {
    case "calls":
      return t("calls", { n: left.n });
    case "turn":
      return t("turn");
    case "time":
      return t("time", { clock: left.clock });
  }
}
