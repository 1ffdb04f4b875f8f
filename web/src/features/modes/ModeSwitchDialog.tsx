/** Confirms a mode switch that would start dangerous or unread calls at once, and shows these calls in full. */
import type { CallView } from "../../api/schema";
import { useActiveId, useLanguage, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName } from "../../ui/safeText";
import { CallPanel } from "../tool-calls/CallPanel";
import { ReadTracker, revealUnread, useReadDigests } from "../read-progress/readProgress";
import { previewOf, formatTextSize } from "../tool-calls/textPreview";
import { argumentsBeside, contentOf, titleOf } from "../tool-calls/callText";
import { UnreadNote } from "../read-progress/UnreadHint";
import { useIsStable } from "../approvals/useIsStable";

interface Props {
  title: string;
  calls: readonly CallView[];
  onSwitch(): void;
  onClose(): void;
}

export function ModeSwitchDialog({ title, calls, onSwitch, onClose }: Props) {
  const t = useTexts("modeSwitch");
  const language = useLanguage();
  const read = useReadDigests();
  const unread = calls.filter((call) => !read.has(call.digest)).map(({ digest }) => digest);
  const isSettled = useIsStable(calls.map(({ digest }) => digest).join("\n"));
  const text = unread.length > 0 ? t("unread", { n: unread.length }) : t("read", { n: calls.length });
  const id = useActiveId() ?? "";
  const workspace = useSelector((state) => state.contexts[id]?.view.value?.workspace ?? null, [id]);
  return (
    <Dialog
      isWide
      title={t("title", { mode: visibleName(title) })}
      onClose={onClose}
      footer={
        <>
          <UnreadNote unread={unread} onShow={() => revealUnread(unread)} />
          <Button onClick={onClose}>{t("stay")}</Button>
          <Button kind="danger" disabledReason={isSettled && unread.length === 0 ? null : text} onClick={onSwitch}>
            {t("switch")}
          </Button>
        </>
      }
    >
      <p>{text}</p>
      <ul className="switch-calls">
        {calls.map((call) => (
          <li key={`${call.id} ${call.digest}`}>
            <h3 className="switch-call">
              <ForeignText text={titleOf(call, language)} />{" "}
              <code className="tool-id">
                <ForeignText text={visibleName(call.tool)} />
              </code>{" "}
              <span className="soft small">
                <Size call={call} />
              </span>
            </h3>
            <ReadTracker key={call.digest} digest={call.digest}>
              <CallPanel call={call} workspace={workspace} />
            </ReadTracker>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Size({ call }: { call: CallView }) {
  const t = useTexts("approvals");
  const content = contentOf(call);
  const listed = argumentsBeside(call, content);
  const texts = content === null ? [] : [content.text];
  if (content === null || listed.length > 0) texts.push(JSON.stringify(Object.fromEntries(listed), null, 2));
  const { lines, bytes } = previewOf(texts.join("\n"));
  return t("wholeSize", { n: lines, size: formatTextSize(bytes) });
}
