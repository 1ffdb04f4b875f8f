/** Before a switch that would start something dangerous at once: what that is. */
import { useState } from "react";
import type { CallShape } from "../../api/schema";
import { useActiveId, useLanguage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { visibleName } from "../../ui/names";
import { CallView } from "../approvals/CallView";
import { ReadTracker } from "../approvals/readProgress";
import { titleOf } from "../approvals/tools";

const WORDS = {
  title: ["Switch to {mode}?", "切换到{mode}？"],
  what: ["{n|This call waits|These calls wait} and would start at once:", "以下 {n} 个等待中的调用会立即开始："],
  switch: ["Switch and start", "切换并开始"],
  readFirst: ["Scroll to the end of what would start before you switch", "切换前请先滚动查看到末尾"],
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
  const [read, setRead] = useState<ReadonlySet<string>>(new Set());
  const isRead = calls.every((call) => read.has(call.digest));
  const id = useActiveId() ?? "";
  const workspace = useSlice((state) => state.contexts[id]?.shape.value?.workspace ?? null, [id]);
  return (
    <Dialog
      isWide
      title={t("title", { mode: visibleName(title) })}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t("stay")}</Button>
          <Button kind="danger" whyNot={isRead ? null : t("readFirst")} onClick={onSwitch}>
            {t("switch")}
          </Button>
        </>
      }
    >
      <p>{t("what", { n: calls.length })}</p>
      {!isRead && <p className="soft small">{t("readFirst")}</p>}
      <ul className="switch-calls">
        {calls.map((call) => (
          <li key={`${call.id} ${call.digest}`}>
            <h3 className="switch-call">
              {titleOf(call, language)} <code className="tool-id">{visibleName(call.tool)}</code>
            </h3>
            <ReadTracker onRead={() => setRead((old) => new Set([...old, call.digest]))}>
              <CallView call={call} workspace={workspace} />
            </ReadTracker>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
