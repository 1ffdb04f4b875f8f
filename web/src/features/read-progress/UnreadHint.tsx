/** Why something cannot be approved yet: how much of it was not on the screen, and the way there. */
import type { ReactNode } from "react";
import type { CallView } from "../../api/schema";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import type { DockControls } from "../approvals/ApprovalDock";
import { useUnreadPart } from "./readProgress";

/** All lines are read, but not what is said about them. */
const SIDES = { above: "unreadAbove", below: "unreadBelow" } as const;

interface Props {
  id?: string;
  /** Why that matters, where it is not said elsewhere. */
  why?: string;
  /** By digest. */
  unread: readonly string[];
  onShow(): void;
  /** Other ways to read it. */
  children?: ReactNode;
}

export function UnreadHint({ id, dock, calls }: { id?: string; dock: DockControls; calls: readonly CallView[] }) {
  const t = useTexts("approvals");
  if (dock.off !== null) return <div className="unread-room" />; // a short call is read by then
  const unread = dock.unreadOf(calls).map(({ digest }) => digest);
  const noteProps = { unread, why: dock.whyUnread(calls) ?? "", ...(id === undefined ? {} : { id }) };
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
 * How much of these is unread, and the way there. The note stands above the buttons and keeps its room when all is read,
 * so that no button moves under a finger.
 */
export function UnreadNote({ id, why = "", unread, onShow, children }: Props) {
  const t = useTexts("approvals");
  const { lines, side } = useUnreadPart(unread);
  if (unread.length === 0) return <div className="unread-room soft small">{t("allShown")}</div>;
  const remaining = lines > 0 ? t("unreadLines", { n: lines }) : side === null ? null : t(SIDES[side]);
  return (
    <div className="unread-room soft small">
      <span id={id} className="unread-hint">
        <span className="unread-words">
          <span className={remaining === null ? "" : "unread-why"}>{why}</span> {remaining}
        </span>
        <Button kind={["quiet", "small"]} onClick={onShow}>
          {t("showUnread")}
        </Button>
        {children}
      </span>
    </div>
  );
}
