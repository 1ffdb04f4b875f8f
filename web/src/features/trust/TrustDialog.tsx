/** The settings that a folder brings along, in full and with their effects, to be trusted or not. */
import type { FolderTrust } from "../../api/schema";
import { useQuery, useAction, useLanguage, useAppServices } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { exactName } from "../../ui/safeText";
import { ProblemNote } from "../../ui/ProblemNote";
import { timeOf } from "../../ui/timeFormat";
import { ReadTracker, revealUnread, useReadDigests } from "../read-progress/readProgress";
import { WholeText } from "../tool-calls/TextValue";
import { UnreadNote } from "../read-progress/UnreadHint";
import { Skeleton } from "../../ui/Skeleton";
import { refreshTrust } from "./TrustNotice";
import "./trust.css";

/** The kind of a settings file, by its name. */
function fileKind(name: string): "config" | "tools" | "servers" | "persona" {
  if (name === "mcp_servers.json") return "servers";
  if (name === "tools.toml") return "tools";
  return name === "config.toml" ? "config" : "persona";
}

export function TrustDialog({ id, onClose }: { id: string; onClose(): void }) {
  const t = useTexts("trust");
  const language = useLanguage();
  const { api } = useAppServices();
  const action = useAction();
  const read = useReadDigests();
  const path = { context_id: id };
  const trustQuery = useQuery("GET /api/contexts/{context_id}/trust", { path });
  const trust = trustQuery.value;
  const decide = async (work: () => Promise<FolderTrust>) => {
    const isDone = await action.run(work);
    refreshTrust();
    if (isDone) return onClose();
    trustQuery.refetch(); // show the current settings: they may have changed
  };
  const files = Object.entries(trust?.files ?? {});
  const programs = Object.keys(trust?.programs ?? {});
  const isUntrusted = trust?.status === "new" || (trust?.status === "changed" && files.length > 0);
  const status =
    trust === null || trust.status === "none"
      ? "none"
      : trust.status === "changed" && files.length === 0
        ? "emptied"
        : trust.status;
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      isWide={files.length > 0}
      footer={
        trust !== null && trust.status !== "none" ? (
          <>
            {isUntrusted && (
              <UnreadNote
                unread={read.has(trust.digest) ? [] : [trust.digest]}
                reason={t("readFirst")}
                onShow={() => revealUnread([trust.digest])}
              />
            )}
            <Button onClick={onClose}>{t("close")}</Button>
            {trust.status !== "new" && (
              <Button
                kind="danger"
                disabled={action.isBusy}
                onClick={() => void decide(() => api("DELETE /api/contexts/{context_id}/trust", { path }))}
              >
                {t("distrust")}
              </Button>
            )}
            {isUntrusted && (
              <Button
                disabled={action.isBusy}
                disabledReason={read.has(trust.digest) ? null : t("readFirst")}
                onClick={() =>
                  void decide(() =>
                    api("PUT /api/contexts/{context_id}/trust", { path, body: { digest: trust.digest } }),
                  )
                }
              >
                {t("trust")}
              </Button>
            )}
          </>
        ) : undefined
      }
    >
      <div className="dialog-stack">
        <ProblemNote problem={trustQuery.problem ?? action.problem} />
        {trust === null && trustQuery.problem === null && <Skeleton lines={3} />}
        {trust !== null && (
          <>
            <p className={isUntrusted ? "note warn" : "soft"}>
              {t(status, { time: timeOf(trust.trusted_at ?? "", language) })}
            </p>
            {files.length > 0 && <p className="soft small">{t("stricter")}</p>}
            <code className="small">
              <ForeignText text={exactName(trust.folder)} />
            </code>
          </>
        )}
        <ReadTracker key={trust?.digest ?? ""} digest={trust?.digest ?? ""} extraClass="dialog-stack">
          {files.map(([name, text]) => (
            <section key={name} className="trust-file">
              <h3>
                <code>
                  <ForeignText text={`.pilothouse/${exactName(name)}`} />
                </code>
              </h3>
              <p className={fileKind(name) === "servers" ? "trust-danger" : "soft"}>{t(fileKind(name))}</p>
              <div className="text-value">
                <WholeText text={text} label={`.pilothouse/${exactName(name)}`} />
              </div>
            </section>
          ))}
          {programs.length > 0 && (
            <section>
              <p>{t("program")}</p>
              <ul className="trust-programs">
                {programs.map((name) => (
                  <li key={name}>
                    <code>
                      <ForeignText text={exactName(name)} />
                    </code>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </ReadTracker>
      </div>
    </Dialog>
  );
}
