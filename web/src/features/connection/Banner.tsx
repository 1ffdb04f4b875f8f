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
    "You are signed out. Run `pilothouse open` on the server's machine (with its --data-dir, if it has one) and open the link it prints.",
    "你已退出登录。请在服务器所在的机器上运行 `pilothouse open`（如服务器使用了 --data-dir，请加上），并打开它显示的链接。",
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
