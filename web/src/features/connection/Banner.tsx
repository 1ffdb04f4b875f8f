/** Says that there is no connection, but only when that lasts; and for a moment that it is back. */
import { useEffect, useRef, useState } from "react";
import { usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { showsBanner } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import "./banner.css";

const WORDS = {
  down: ["No connection. Trying again… What you write stays here.", "连接已断开，正在重试…… 你写的内容会保留。"],
  retry: ["Retry now", "立即重试"],
  back: ["Connected again.", "已重新连接。"],
  refused: [
    "The server does not let this page in. Open the link that it printed once more.",
    "服务器拒绝了此页面。请重新打开它打印的链接。",
  ],
} as const;
const BACK_FOR = 1_500;

export function Banner() {
  const t = useWords(WORDS);
  const { wake } = usePage();
  const isShown = useSlice(showsBanner);
  const isRefused = useSlice((state) => state.connection.is === "refused");
  const [isBack, setBack] = useState(false);
  const was = useRef(false);
  useEffect(() => {
    if (isShown) announce(t(isRefused ? "refused" : "down"), true);
  }, [isShown, isRefused]);
  useEffect(() => {
    const hasEnded = was.current && !isShown;
    was.current = isShown;
    if (!hasEnded) return;
    setBack(true);
    announce(t("back"));
    const timer = setTimeout(() => setBack(false), BACK_FOR);
    return () => clearTimeout(timer);
  }, [isShown]);
  if (!isShown && !isBack) return null;
  return (
    <div className={isShown ? "banner is-down" : "banner is-back"}>
      <Icon name={isShown ? "warning" : "check"} />
      {t(isShown ? (isRefused ? "refused" : "down") : "back")}
      {isShown && !isRefused && (
        <Button kind="small" onClick={wake}>
          {t("retry")}
        </Button>
      )}
    </div>
  );
}
