/** Why something cannot be approved yet: how much of it was not on the screen, and the way there. */
import type { ReactNode } from "react";
import type { CallShape } from "../../api/schema";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import type { Deciding } from "./Dock";
import { useUnreadPart } from "./readProgress";
import { WORDS } from "./words";

/** All lines are read, but not what is said about them. */
const SIDES = { above: "unreadAbove", below: "unreadBelow" } as const;

interface Given {
  id?: string;
  /** Why that matters, where it is not said elsewhere. */
  why?: string;
  /** By digest. */
  unread: readonly string[];
  onShow(): void;
  /** Other ways to read it. */
  children?: ReactNode;
}

export function UnreadHint({ id, dock, calls }: { id?: string; dock: Deciding; calls: readonly CallShape[] }) {
  const t = useWords(WORDS);
  if (dock.off !== null) return <div className="unread-room" />; // a short call is read by then
  const unread = dock.unreadOf(calls).map(({ digest }) => digest);
  const given = { unread, why: dock.whyUnread(calls) ?? "", ...(id === undefined ? {} : { id }) };
  return (
    <UnreadNote {...given} onShow={() => dock.showUnread(calls)}>
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
export function UnreadNote({ id, why = "", unread, onShow, children }: Given) {
  const t = useWords(WORDS);
  const { lines, side } = useUnreadPart(unread);
  if (unread.length === 0) return <div className="unread-room soft small">{t("allShown")}</div>;
  const left = lines > 0 ? t("unreadLines", { n: lines }) : side === null ? null : t(SIDES[side]);
  return (
    <div className="unread-room soft small">
      <span id={id} className="unread-hint">
        <span className="unread-words">
          <span className={left === null ? "" : "unread-why"}>{why}</span> {left}
        </span>
        <Button kind={["quiet", "small"]} onClick={onShow}>
          {t("showUnread")}
        </Button>
        {children}
      </span>
    </div>
  );
}
