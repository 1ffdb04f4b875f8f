/** Several calls that wait together: a row each, and decisions about all of them or those that are ticked. */
import { type KeyboardEvent, useId } from "react";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import type { Deciding } from "./Dock";
import { GroupRow } from "./GroupRow";
import { Panel } from "./Panel";
import { isDangerous } from "./tools";
import { unseenDangers } from "./waiting";
import { WORDS } from "./words";
import "./group.css";

export function Group({ dock }: { dock: Deciding }) {
  const t = useWords(WORDS);
  const id = useId();
  const { chosen } = dock;
  const isAll = !chosen.some((call) => dock.isTicked(call.id));
  const dangers = unseenDangers(chosen, dock.isOpen);
  const n = chosen.length;
  const decide = (verdict: "approve" | "reject") => dock.decide(chosen.map((call) => ({ id: call.id, digest: call.digest, verdict })));
  return (
    <div className="card" role="group" aria-labelledby={id}>
      <header className="card-head">
        <Icon name="rule" />
        <h2 id={id} className="card-title">
          {t("group", { n: dock.waiting.length })}
        </h2>
      </header>
      {dock.asked?.kind !== "edit" && (
        <div className="card-body card-rows" onKeyDown={walk}>
          {dock.waiting.map((one) => (
            <GroupRow key={one.call.id} dock={dock} one={one} />
          ))}
        </div>
      )}
      <footer className="card-foot">
        {dock.asked !== null ? (
          <Panel dock={dock} asked={dock.asked} />
        ) : (
          <div className="actions">
            <Button
              kind={chosen.some(isDangerous) ? [] : "primary"}
              whyNot={dock.off ?? (dangers.length > 0 ? t("lookFirst", { n: dangers.length }) : null)}
              aria-keyshortcuts="Shift+Enter"
              onClick={() => decide("approve")}
            >
              {t(isAll ? "approveAll" : "approveSome", { n })}
              <kbd className="kbd">⇧↵</kbd>
            </Button>
            <Button kind="danger" whyNot={dock.off} aria-keyshortcuts="Shift+Escape" onClick={() => decide("reject")}>
              {t(isAll ? "rejectAll" : "rejectSome", { n })}
              <kbd className="kbd">⇧esc</kbd>
            </Button>
            <Button kind="quiet" whyNot={dock.off} title={t("tellMeans")} onClick={() => dock.ask({ kind: "reason", calls: chosen })}>
              {t("tell")}
            </Button>
            {dangers.length > 0 && <span className="soft small">{t("lookFirst", { n: dangers.length })}</span>}
          </div>
        )}
      </footer>
    </div>
  );
}

/** The arrows go from row to row. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (!(event.target instanceof HTMLElement) || event.target.closest(".lines, input:not([type='checkbox']), textarea") !== null) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-call]")];
  const present = rows.findIndex((row) => row.contains(event.target instanceof Node ? event.target : null));
  const next = rows[present + (event.key === "ArrowDown" ? 1 : -1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
