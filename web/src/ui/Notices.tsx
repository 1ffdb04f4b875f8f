/** Short-lived notices over the transcript, newest first. */
import { useEffect, useState } from "react";
import { useTexts } from "../i18n/texts";
import { announce } from "./Announcer";
import { IconButton } from "./Button";
import { ForeignText } from "./ForeignText";
import { Icon } from "./icons";
import "./notices.css";

const NOTICE_MS = 8_000;
const MAX_NOTICES = 4;

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

let showNotice: (text: string, isError: boolean) => void = () => {};

/** Shows a notice. A notice about a failure stays until it is dismissed. */
export function notify(text: string, isError = false): void {
  showNotice(text, isError);
  announce(text);
}

export function Notices() {
  const t = useTexts("ui");
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  useEffect(() => {
    let count = 0;
    const timers = new Set<ReturnType<typeof setTimeout>>();
    showNotice = (text, isError) => {
      const id = ++count;
      setNotices((old) => [{ id, text, isError }, ...old.filter((each) => each.text !== text)].slice(0, MAX_NOTICES));
      if (!isError) timers.add(setTimeout(() => setNotices((old) => old.filter((each) => each.id !== id)), NOTICE_MS));
    };
    return () => {
      showNotice = () => {};
      for (const timer of timers) clearTimeout(timer);
    };
  }, []);
  if (notices.length === 0) return null;
  return (
    <section className="notices" aria-label={t("notices")}>
      {notices.map((notice) => (
        <div key={notice.id} className={notice.isError ? "notice bad" : "notice"}>
          {notice.isError && <Icon name="warning" />}
          <span>
            <ForeignText text={notice.text} />
          </span>
          <IconButton
            kind={["quiet", "small"]}
            icon="close"
            label={t("dismiss")}
            onClick={() => setNotices((old) => old.filter((each) => each.id !== notice.id))}
          />
        </div>
      ))}
    </section>
  );
}
