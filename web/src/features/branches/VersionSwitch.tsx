/** ‹ 1 / 2 › at a message: switches to the branch with another version of the message. */
import { useEffect, useRef } from "react";
import { createAtom, useAtom } from "../../app/atom";
import { isFocusLost } from "../../app/focusPolicy";
import { useAction, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { editBlockedReason } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { IconButton } from "../../ui/Button";
import { ProblemNote } from "../../ui/ProblemNote";
import { scrollTarget } from "../chat/messageEdit";
import type { MessageVersions } from "./versions";
import "./versions.css";

type Step = -1 | 1;

/** The button that was pressed, and the message that it led to: the focus continues at the same button there. */
const lastPress = createAtom<{ readonly messageId: string; readonly step: Step } | null>(null);

export function VersionSwitch({ context, versions }: { context: string; versions: MessageVersions }) {
  const t = useTexts("versions");
  const { api } = useAppServices();
  const action = useAction();
  const reason = useSelector((state) => editBlockedReason(state, context), [context]);
  const { all, currentIndex, messageId } = versions;
  const buttons = useRef<HTMLDivElement>(null);
  const press = useAtom(lastPress);
  const label = t("group", { n: currentIndex + 1, total: all.length });
  useEffect(() => {
    if (press?.messageId !== messageId) return;
    lastPress.set(null);
    announce(label);
    if (isFocusLost()) buttons.current?.querySelectorAll("button")[press.step === 1 ? 1 : 0]?.focus();
  }, [press, messageId]);

  const go = (step: Step) => {
    const target = all[currentIndex + step];
    if (target === undefined) return;
    void action.run(async () => {
      await api("PUT /api/contexts/{context_id}/active-branch", {
        path: { context_id: context },
        body: { branch: target.branch },
      });
      lastPress.set({ messageId: target.messageId, step });
      scrollTarget.set({ context, id: target.messageId, branch: target.branch });
    });
  };
  const disabledReason = action.isBusy ? t("switching") : reason === null ? null : t(reason);
  return (
    <>
      <div className="versions" role="group" aria-label={label} ref={buttons}>
        <IconButton
          kind={["quiet", "small"]}
          icon="back"
          label={t("previous")}
          disabledReason={disabledReason ?? (currentIndex === 0 ? t("first") : null)}
          onClick={() => go(-1)}
        />
        <span className="versions-count" aria-hidden="true">
          {currentIndex + 1} / {all.length}
        </span>
        <IconButton
          kind={["quiet", "small"]}
          icon="forward"
          label={t("next")}
          disabledReason={disabledReason ?? (currentIndex === all.length - 1 ? t("last") : null)}
          onClick={() => go(1)}
        />
      </div>
      <ProblemNote problem={action.problem} />
    </>
  );
}
