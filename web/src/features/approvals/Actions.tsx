/** The buttons of one call. They never scroll away, and for a dangerous call none of them is the obvious one. */
import { useId } from "react";
import type { CallShape } from "../../api/schema";
import { ariaKeys, keysShown } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import type { Deciding } from "./Dock";
import { readSingleKeys } from "./keys";
import type { Asked } from "./Panel";
import { isDangerous } from "./tools";
import { UnreadHint } from "./UnreadHint";
import { isOffer, type Waiting } from "./waiting";
import { WORDS } from "./words";

export function Actions({ dock, one: { call, sent } }: { dock: Deciding; one: Waiting }) {
  const t = useWords(WORDS);
  const reason = useId();
  if (sent !== null) return <Submitting sent={sent} />;
  const unread = dock.whyUnread([call]);
  return (
    <div className="actions">
      <UnreadHint id={reason} dock={dock} calls={[call]} />
      <Button
        kind={isDangerous(call) ? [] : "primary"}
        whyNot={dock.off ?? unread}
        aria-describedby={unread === null ? undefined : reason}
        aria-keyshortcuts={isDangerous(call) ? undefined : "Enter 1"}
        onClick={() => decideOne(dock, call, "approve")}
      >
        {t(isOffer(call) ? "approveOffer" : "approve")}
        {!isDangerous(call) && <kbd className="kbd">↵</kbd>}
      </Button>
      <Button
        kind="danger"
        whyNot={dock.off}
        title={t("rejectMeans")}
        aria-keyshortcuts={`${ariaKeys("Mod+Backspace")} 3`}
        onClick={() => decideOne(dock, call, "reject")}
      >
        {t("reject")}
        <kbd className="kbd">{keysShown("Mod+⌫")}</kbd>
      </Button>
      <More dock={dock} call={call} />
    </div>
  );
}

/** What needs another step. */
export function More({ dock, call }: { dock: Deciding; call: CallShape }) {
  const t = useWords(WORDS);
  const ask = (kind: Asked["kind"]) => () => dock.ask({ kind, calls: [call] });
  return (
    <>
      <Button kind="quiet" whyNot={dock.off} title={t("tellMeans")} aria-keyshortcuts="4 R" onClick={ask("reason")}>
        {t("tell")}
        <SingleKey name="R" />
      </Button>
      {(call.rule_offers ?? []).length > 0 && (
        <Button kind="quiet" whyNot={dock.off} title={t("alwaysMeans")} aria-keyshortcuts="2" onClick={ask("always")}>
          {t("always")}
          <SingleKey name="2" />
        </Button>
      )}
      {isOffer(call) && (
        <Button kind="quiet" whyNot={dock.off} title={t("elevateMeans")} onClick={ask("elevate")}>
          {t("elevate")}
        </Button>
      )}
      <Button kind="quiet" whyNot={dock.off} title={t("editMeans")} onClick={ask("edit")}>
        {t("edit")}
      </Button>
    </>
  );
}

/** A hint at a key that can be turned off. */
function SingleKey({ name }: { name: string }) {
  return readSingleKeys() ? <kbd className="kbd">{name}</kbd> : null;
}

export function Submitting({ sent }: { sent: "approve" | "reject" }) {
  const t = useWords(WORDS);
  return (
    <p className="submitting">
      <span className="state-dot" aria-hidden="true" />
      {t(sent === "approve" ? "approving" : "rejecting")}
    </p>
  );
}

export function decideOne(dock: Deciding, call: CallShape, verdict: "approve" | "reject"): void {
  dock.decide([{ id: call.id, digest: call.digest, verdict }]);
}
