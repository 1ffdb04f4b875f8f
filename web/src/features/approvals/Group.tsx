/** Several calls that wait together: a row each, and decisions about all of them or those that are ticked. */
import type { KeyboardEvent } from "react";
import { ariaKeys, keysShown } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import type { Deciding } from "./Dock";
import { GroupRow } from "./GroupRow";
import { isDangerous } from "./tools";
import { unseen } from "./waiting";
import { WORDS } from "./words";
import "./group.css";

export function Rows({ dock }: { dock: Deciding }) {
  return (
    <div className="card-body card-rows" onKeyDown={walk}>
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
  const hidden = unseen(chosen, dock.isOpen);
  const n = chosen.length;
  const decide = (verdict: "approve" | "reject") =>
    dock.decide(chosen.map((call) => ({ id: call.id, digest: call.digest, verdict })));
  return (
    <div className="actions">
      <Button
        kind={chosen.some(isDangerous) ? [] : "primary"}
        whyNot={dock.off ?? (hidden.length > 0 ? t("lookFirst", { n: hidden.length }) : null)}
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
      {hidden.length > 0 && <span className="soft small">{t("lookFirst", { n: hidden.length })}</span>}
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
