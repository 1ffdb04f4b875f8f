/** Shows that the connection has been lost for some seconds, and for a moment that it is back. */
import { useEffect, useRef, useState } from "react";
import { useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { showsBanner } from "../../store/selectors";
import { announce } from "../../ui/Announcer";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import "./banner.css";

const RECONNECTED_SHOWN_MS = 1_500;

export function ConnectionBanner() {
  const t = useTexts("connection");
  const { wake } = useAppServices();
  const isShown = useSelector(showsBanner);
  const isRefused = useSelector((state) => state.connection.status === "refused");
  const [isReconnected, setReconnected] = useState(false);
  const wasShown = useRef(false);
  useEffect(() => {
    if (isShown) announce(t(isRefused ? "refused" : "down"), true);
  }, [isShown, isRefused]);
  useEffect(() => {
    const hasEnded = wasShown.current && !isShown;
    wasShown.current = isShown;
    if (!hasEnded) return;
    setReconnected(true);
    announce(t("back"));
    const timer = setTimeout(() => setReconnected(false), RECONNECTED_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isShown]);
  if (!isShown && !isReconnected) return null;
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
