/** Several calls that wait together: a row each, and decisions about all of them or those that are ticked. */
import { type KeyboardEvent, useId } from "react";
import { ariaKeys, keysShown } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import type { Deciding } from "./Dock";
import { GroupRow } from "./GroupRow";
import { SCROLLS } from "./pageKeys";
import { isDangerous } from "./tools";
import { UnreadHint } from "./UnreadHint";
import { WORDS } from "./words";
import "./group.css";

export function Rows({ dock }: { dock: Deciding }) {
  const t = useWords(WORDS);
  return (
    <div
      className="card-body card-rows"
      role="region"
      tabIndex={0}
      aria-label={t("wholeCall")}
      onKeyDown={walk}
      {...SCROLLS}
    >
      {dock.waiting.map((one) => (
        <GroupRow key={one.call.id} dock={dock} one={one} />
      ))}
    </div>
  );
}

export function GroupActions({ dock }: { dock: Deciding }) {
  const t = useWords(WORDS);
  const { chosen } = dock;
  const isAll = !chosen.some((call) => dock.isTicked(call.id));
  const unread = dock.whyUnread(chosen);
  const reason = useId();
  const n = chosen.length;
  const decide = (verdict: "approve" | "reject") =>
    dock.decide(chosen.map((call) => ({ id: call.id, digest: call.digest, verdict })));
  return (
    <div className="actions">
      <UnreadHint id={reason} dock={dock} calls={chosen} />
      <Button
        kind={chosen.some(isDangerous) ? [] : "primary"}
        whyNot={dock.off ?? unread}
        aria-describedby={unread === null ? undefined : reason}
        aria-keyshortcuts="Shift+Enter"
        onClick={() => decide("approve")}
      >
        {t(isAll ? "approveAll" : "approveSome", { n })}
        <kbd className="kbd">⇧↵</kbd>
      </Button>
      <Button
        kind="danger"
        whyNot={dock.off}
        aria-keyshortcuts={ariaKeys("Mod+Shift+Backspace")}
        onClick={() => decide("reject")}
      >
        {t(isAll ? "rejectAll" : "rejectSome", { n })}
        <kbd className="kbd">{keysShown("Mod+⇧⌫")}</kbd>
      </Button>
      <Button
        kind="quiet"
        whyNot={dock.off}
        title={t("tellMeans")}
        onClick={() => dock.ask({ kind: "reason", calls: chosen })}
      >
        {t("tell")}
      </Button>
    </div>
  );
}

/** The arrows go from row to row. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (
    !(event.target instanceof HTMLElement) ||
    event.target.closest(".lines, input:not([type='checkbox']), textarea") !== null
  )
    return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-call]")];
  const present = rows.findIndex((row) => row.contains(event.target instanceof Node ? event.target : null));
  const next = rows[present + (event.key === "ArrowDown" ? 1 : -1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
