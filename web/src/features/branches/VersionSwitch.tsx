/** ‹ 1 / 2 › at a message: leads to what stands in its place on other branches. */
import { useEffect, useRef } from "react";
import { makeCell, useCell } from "../../app/cell";
import { isFocusLost } from "../../app/focusPolicy";
import { useDoing, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { whyNotNow } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { IconButton } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { toShow } from "../chat/editing";
import type { Versions } from "./versions";
import "./versions.css";

const WORDS = {
  group: ["Version {n} of {total} of this message", "此消息的第 {n} 个版本，共 {total} 个"],
  previous: ["Previous version", "上一个版本"],
  next: ["Next version", "下一个版本"],
  first: ["This is the first version", "已是第一个版本"],
  last: ["This is the last version", "已是最后一个版本"],
  busy: ["You can switch when the turn has ended", "本轮结束后才能切换"],
  switching: ["Switching…", "正在切换……"],
  offline: ["There is no connection", "没有连接"],
} as const;

type Step = -1 | 1;

/** The button that was pressed, at the message to which it has led: the focus goes on from there. */
const pressed = makeCell<{ readonly messageId: string; readonly step: Step } | null>(null);

export function VersionSwitch({ context, versions }: { context: string; versions: Versions }) {
  const t = useWords(WORDS);
  const { api } = usePage();
  const doing = useDoing();
  const reason = useSlice((state) => whyNotNow(state, context), [context]);
  const { all, present, messageId } = versions;
  const buttons = useRef<HTMLDivElement>(null);
  const last = useCell(pressed);
  const label = t("group", { n: present + 1, total: all.length });
  useEffect(() => {
    if (last?.messageId !== messageId) return;
    pressed.set(null);
    announce(label);
    if (isFocusLost()) buttons.current?.querySelectorAll("button")[last.step === 1 ? 1 : 0]?.focus();
  }, [last, messageId]);

  const go = (step: Step) => {
    const wanted = all[present + step];
    if (wanted === undefined) return;
    void doing.run(async () => {
      await api("PUT /api/contexts/{context_id}/active-branch", {
        path: { context_id: context },
        body: { branch: wanted.branch },
      });
      pressed.set({ messageId: wanted.messageId, step });
      toShow.set({ context, id: wanted.messageId, branch: wanted.branch });
    });
  };
  const busy = doing.isBusy ? t("switching") : reason === null ? null : t(reason);
  return (
    <>
      <div className="versions" role="group" aria-label={label} ref={buttons}>
        <IconButton
          kind={["quiet", "small"]}
          icon="back"
          label={t("previous")}
          whyNot={busy ?? (present === 0 ? t("first") : null)}
          onClick={() => go(-1)}
        />
        <span className="versions-count" aria-hidden="true">
          {present + 1} / {all.length}
        </span>
        <IconButton
          kind={["quiet", "small"]}
          icon="forward"
          label={t("next")}
          whyNot={busy ?? (present === all.length - 1 ? t("last") : null)}
          onClick={() => go(1)}
        />
      </div>
      <ProblemNote problem={doing.problem} />
    </>
  );
}
