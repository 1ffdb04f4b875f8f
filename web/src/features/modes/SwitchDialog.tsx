/** Before a switch that would start something dangerous at once: what that is. */
import type { CallShape } from "../../api/schema";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { toolName, visibleName, visibleText } from "../../ui/names";

const WORDS = {
  title: ["Switch to {mode}?", "切换到{mode}？"],
  what: ["{n|This call waits and would|These {n} calls wait and would} start at once:", "以下 {n} 个等待中的调用会立即开始："],
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
  return (
    <Dialog
      title={t("title", { mode: visibleName(title) })}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t("stay")}</Button>
          <Button kind="danger" onClick={onSwitch}>
            {t("switch")}
          </Button>
        </>
      }
    >
      <p>{t("what", { n: calls.length })}</p>
      <ul className="switch-calls">
        {calls.map((call) => (
          <li key={call.id}>
            <strong>{toolName(call)}</strong>
            <pre>{visibleText(JSON.stringify(call.arguments, null, 2))}</pre>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
