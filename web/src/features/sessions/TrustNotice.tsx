/** Says in the conversation that its folder brings settings that nobody has looked at, until somebody does. */
import { useState } from "react";
import { makeCell, useCell } from "../../app/cell";
import { keep, kept } from "../../app/looks";
import { useAsked, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { isBusy } from "../../store/selectors";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { TrustDialog } from "./TrustDialog";
import "./trust.css";

const WORDS = {
  new: [
    "This folder brings settings of its own. They do not count until you trust them.",
    "此文件夹自带设置。在你信任之前不会生效。",
  ],
  changed: [
    "This folder's own settings have changed. The old ones hold until you have looked.",
    "此文件夹自带的设置已变更。在你查看之前，旧设置仍然有效。",
  ],
  look: ["Look…", "查看……"],
  later: ["Not now", "暂不"],
} as const;

const changes = makeCell(0);

export function trustChanged(): void {
  changes.set(changes.getSnapshot() + 1);
}

const keyOf = (folder: string) => `pilothouse-trust-seen ${folder}`;

export function TrustNotice({ id }: { id: string }) {
  const t = useWords(WORDS);
  const changed = useCell(changes);
  const isWorking = useSlice((state) => isBusy(state, id), [id]);
  const [isShown, setShown] = useState(false);
  const found = useAsked(
    "GET /api/contexts/{context_id}/trust",
    { path: { context_id: id } },
    `${changed} ${isWorking}`,
  ).value;
  const isAsked =
    found !== null &&
    (found.status === "new" || found.status === "changed") &&
    kept(keyOf(found.folder)) !== found.digest;
  if (!isAsked) return null;
  const dismiss = () => {
    keep(keyOf(found.folder), found.digest);
    trustChanged();
  };
  return (
    <div className="trust-notice" role="status">
      <Icon name="folder" />
      <span>{t(found.status === "changed" ? "changed" : "new")}</span>
      <Button kind="small" onClick={() => setShown(true)}>
        {t("look")}
      </Button>
      <IconButton kind={["quiet", "small"]} icon="close" label={t("later")} onClick={dismiss} />
      {isShown && <TrustDialog id={id} onClose={() => setShown(false)} />}
    </div>
  );
}
