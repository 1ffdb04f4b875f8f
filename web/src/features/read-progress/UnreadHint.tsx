/** Explains why calls cannot be approved yet, and leads to the first unread part. */
import type { ReactNode } from "react";
import type { CallView } from "../../api/schema";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import type { DockControls } from "../approvals/ApprovalDock";
import { useUnreadPart } from "./readProgress";

/** For unread text outside of the line boxes, above or below the visible part. */
const SIDES = { above: "unreadAbove", below: "unreadBelow" } as const;

interface Props {
  id?: string;
  /** The reason why everything must be read, unless it is shown elsewhere. */
  reason?: string;
  /** Digests of the unread texts. */
  unread: readonly string[];
  onShow(): void;
  /** Further actions. */
  children?: ReactNode;
}

export function UnreadHint({ id, dock, calls }: { id?: string; dock: DockControls; calls: readonly CallView[] }) {
  const t = useTexts("approvals");
  // A short call is read before the controls are enabled.
  if (dock.disabledReason !== null) return <div className="unread-room" />;
  const unread = dock.unreadOf(calls).map(({ digest }) => digest);
  const noteProps = { unread, reason: dock.unreadReason(calls) ?? "", ...(id === undefined ? {} : { id }) };
  return (
    <UnreadNote {...noteProps} onShow={() => dock.showUnread(calls)}>
      {!dock.isLarge && (
        <Button kind={["quiet", "small"]} icon="enlarge" extraClass="unread-enlarge" onClick={dock.enlarge}>
          {t("enlarge")}
        </Button>
      )}
    </UnreadNote>
  );
}

/**
 * Shows how much is unread, and a button that leads there. The note keeps its space when everything is read, so that no
 * button moves.
 */
export function UnreadNote({ id, reason = "", unread, onShow, children }: Props) {
  const t = useTexts("approvals");
  const { lines, side } = useUnreadPart(unread);
  if (unread.length === 0) return <div className="unread-room soft small">{t("allShown")}</div>;
  const remaining = lines > 0 ? t("unreadLines", { n: lines }) : side === null ? null : t(SIDES[side]);
  return (
    <div className="unread-room soft small">
      <span id={id} className="unread-hint">
        <span className="unread-words">
          <span className={remaining === null ? "" : "unread-why"}>{reason}</span> {remaining}
        </span>
        <Button kind={["quiet", "small"]} onClick={onShow}>
          {t("showUnread")}
        </Button>
        {children}
      </span>
    </div>
  );
}
