/** Shows that the folder of the conversation has settings that were not reviewed yet. */
import { useState } from "react";
import { createAtom, useAtom } from "../../app/atom";
import { readStorage, writeStorage } from "../../app/storage";
import { useQuery, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { isBusy } from "../../store/selectors";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { TrustDialog } from "./TrustDialog";
import "./trust.css";

const changeCount = createAtom(0);

export function refreshTrust(): void {
  changeCount.set(changeCount.getSnapshot() + 1);
}

const keyOf = (folder: string) => `pilothouse-trust-seen ${folder}`;

export function TrustNotice({ id }: { id: string }) {
  const t = useTexts("trustNotice");
  const changes = useAtom(changeCount);
  const isWorking = useSelector((state) => isBusy(state, id), [id]);
  const [isShown, setShown] = useState(false);
  const trust = useQuery(
    "GET /api/contexts/{context_id}/trust",
    { path: { context_id: id } },
    `${changes} ${isWorking}`,
  ).value;
  const needsReview =
    trust !== null &&
    (trust.status === "new" || trust.status === "changed") &&
    readStorage(keyOf(trust.folder)) !== trust.digest;
  if (!needsReview) return null;
  const dismiss = () => {
    writeStorage(keyOf(trust.folder), trust.digest);
    refreshTrust();
  };
  return (
    <div className="trust-notice" role="status">
      <Icon name="folder" />
      <span>{t(trust.status === "changed" ? "changed" : "new")}</span>
      <Button kind="small" onClick={() => setShown(true)}>
        {t("look")}
      </Button>
      <IconButton kind={["quiet", "small"]} icon="close" label={t("later")} onClick={dismiss} />
      {isShown && <TrustDialog id={id} onClose={() => setShown(false)} />}
    </div>
  );
}
