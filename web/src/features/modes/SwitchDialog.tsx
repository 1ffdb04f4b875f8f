/** Before a switch that would start at once what is dangerous or was not read: all of it. */
import type { CallShape } from "../../api/schema";
import { useActiveId, useLanguage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { visibleName } from "../../ui/names";
import { CallView } from "../approvals/CallView";
import { ReadTracker, showUnread, useReadDigests } from "../approvals/readProgress";
import { previewOf, sizeOf } from "../approvals/texts";
import { heartOf, titleOf } from "../approvals/tools";
import { UnreadNote } from "../approvals/UnreadHint";
import { useSettled } from "../approvals/useSettled";
import { WORDS as CALLS } from "../approvals/words";

const WORDS = {
  title: ["Switch to {mode}?", "切换到{mode}？"],
  unread: [
    "This starts {n} {n|call that you have not read|calls that you have not read}. Read {n|it|them} before you switch.",
    "切换会立即启动 {n} 个你尚未看完的调用。请看完再切换。",
  ],
  read: ["This starts {n} {n|call|calls} at once:", "切换会立即启动以下 {n} 个调用："],
  switch: ["Switch and start", "切换并开始"],
  stay: ["Stay", "保持不变"],
} as const;

interface Given {
  title: string;
  calls: readonly CallShape[];
  onSwitch(): void;
  onClose(): void;
}

export function SwitchDialog({ title, calls, onSwitch, onClose }: Given) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const read = useReadDigests();
  const unread = calls.filter((call) => !read.has(call.digest)).map(({ digest }) => digest);
  const isSettled = useSettled(calls.map(({ digest }) => digest).join("\n"));
  const words = unread.length > 0 ? t("unread", { n: unread.length }) : t("read", { n: calls.length });
  const id = useActiveId() ?? "";
  const workspace = useSlice((state) => state.contexts[id]?.shape.value?.workspace ?? null, [id]);
  return (
    <Dialog
      isWide
      title={t("title", { mode: visibleName(title) })}
      onClose={onClose}
      foot={
        <>
          <UnreadNote unread={unread} onShow={() => showUnread(unread)} />
          <Button onClick={onClose}>{t("stay")}</Button>
          <Button kind="danger" whyNot={isSettled && unread.length === 0 ? null : words} onClick={onSwitch}>
            {t("switch")}
          </Button>
        </>
      }
    >
      <p>{words}</p>
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
              <CallView call={call} workspace={workspace} />
            </ReadTracker>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Size({ call }: { call: CallShape }) {
  const t = useWords(CALLS);
  const { lines, bytes } = previewOf(heartOf(call)?.text ?? JSON.stringify(call.arguments, null, 2));
  return t("wholeSize", { n: lines, size: sizeOf(bytes) });
}
