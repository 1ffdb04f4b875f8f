/** What a folder brings of its own: whole, with what it would do, before anybody lets it count. */
import type { FolderTrust } from "../../api/schema";
import { useAsked, useDoing, useLanguage, usePage } from "../../app/page";
import { useWords } from "../../i18n/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ForeignText } from "../../ui/ForeignText";
import { exactName } from "../../ui/names";
import { ProblemNote } from "../../ui/ProblemNote";
import { timeOf } from "../../ui/times";
import { ReadTracker, showUnread, useReadDigests } from "../approvals/readProgress";
import { WholeText } from "../approvals/TextValue";
import { UnreadNote } from "../approvals/UnreadHint";
import { Skeleton } from "./Skeleton";
import { trustChanged } from "./TrustNotice";
import "./trust.css";

const WORDS = {
  title: ["The folder's own settings", "文件夹自带的设置"],
  none: ["This folder brings no settings of its own.", "此文件夹没有自带的设置。"],
  new: ["Nothing of this counts until you trust it. Read it first.", "在你信任之前，以下内容均不生效。请先阅读。"],
  changed: [
    "This has changed since you trusted it. What you saw then still holds; what is new does not.",
    "自你信任以来，内容已变更。当时你看到的版本仍然有效，新内容不生效。",
  ],
  emptied: [
    "The files are gone. What you trusted before still holds until you take it back.",
    "文件已不存在。之前信任的内容仍然有效，直到你撤回。",
  ],
  trusted: [
    "Trusted since {time}: this holds, in the form that you see here.",
    "自 {time} 起受信任：以此处所示内容为准。",
  ],
  stricter: [
    "It can only make things stricter, and bring servers of tools and personas.",
    "它只能使规则更严格，或带来工具服务器和角色。",
  ],
  config: [
    "Settings: a stricter mode, rules that ask or deny, tools switched off.",
    "设置：更严格的模式、询问或拒绝的规则、关闭的工具。",
  ],
  tools: ["Settings of tools: limits, and which are switched off.", "工具设置：限制以及关闭哪些工具。"],
  servers: [
    "Starts programs on this computer with your rights, and offers their tools to the agent.",
    "以你的权限在此计算机上启动程序，并将其工具提供给智能体。",
  ],
  persona: ["A persona: words for the model, and fewer tools.", "角色：给模型的说明，以及更少的工具。"],
  program: ["Files of the folder that these programs are started with:", "这些程序启动时使用的文件："],
  readFirst: ["Read every file whole before you trust them.", "请看完每个文件再信任。"],
  trust: ["Trust what is shown", "信任所示内容"],
  distrust: ["Trust it no longer", "不再信任"],
  close: ["Not now", "暂不"],
} as const;

/** What a file of it does, in words. */
function meaningOf(name: string): "config" | "tools" | "servers" | "persona" {
  if (name === "mcp_servers.json") return "servers";
  if (name === "tools.toml") return "tools";
  return name === "config.toml" ? "config" : "persona";
}

export function TrustDialog({ id, onClose }: { id: string; onClose(): void }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { api } = usePage();
  const doing = useDoing();
  const read = useReadDigests();
  const path = { context_id: id };
  const asked = useAsked("GET /api/contexts/{context_id}/trust", { path });
  const found = asked.value;
  const decide = async (work: () => Promise<FolderTrust>) => {
    const isDone = await doing.run(work);
    trustChanged();
    if (isDone) return onClose();
    asked.again(); // it may have changed meanwhile: then what is shown is what it is now
  };
  const files = Object.entries(found?.files ?? {});
  const programs = Object.keys(found?.programs ?? {});
  const isUntrusted = found?.status === "new" || (found?.status === "changed" && files.length > 0);
  const status =
    found === null || found.status === "none"
      ? "none"
      : found.status === "changed" && files.length === 0
        ? "emptied"
        : found.status;
  return (
    <Dialog
      title={t("title")}
      onClose={onClose}
      isWide={files.length > 0}
      foot={
        found !== null && found.status !== "none" ? (
          <>
            {isUntrusted && (
              <UnreadNote
                unread={read.has(found.digest) ? [] : [found.digest]}
                why={t("readFirst")}
                onShow={() => showUnread([found.digest])}
              />
            )}
            <Button onClick={onClose}>{t("close")}</Button>
            {found.status !== "new" && (
              <Button
                kind="danger"
                disabled={doing.isBusy}
                onClick={() => void decide(() => api("DELETE /api/contexts/{context_id}/trust", { path }))}
              >
                {t("distrust")}
              </Button>
            )}
            {isUntrusted && (
              <Button
                disabled={doing.isBusy}
                whyNot={read.has(found.digest) ? null : t("readFirst")}
                onClick={() =>
                  void decide(() =>
                    api("PUT /api/contexts/{context_id}/trust", { path, body: { digest: found.digest } }),
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
        <ProblemNote problem={asked.problem ?? doing.problem} />
        {found === null && asked.problem === null && <Skeleton lines={3} />}
        {found !== null && (
          <>
            <p className={isUntrusted ? "note warn" : "soft"}>
              {t(status, { time: timeOf(found.trusted_at ?? "", language) })}
            </p>
            {files.length > 0 && <p className="soft small">{t("stricter")}</p>}
            <code className="small">
              <ForeignText text={exactName(found.folder)} />
            </code>
          </>
        )}
        <ReadTracker key={found?.digest ?? ""} digest={found?.digest ?? ""} extraClass="dialog-stack">
          {files.map(([name, text]) => (
            <section key={name} className="trust-file">
              <h3>
                <code>
                  <ForeignText text={`.pilothouse/${exactName(name)}`} />
                </code>
              </h3>
              <p className={meaningOf(name) === "servers" ? "trust-danger" : "soft"}>{t(meaningOf(name))}</p>
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
