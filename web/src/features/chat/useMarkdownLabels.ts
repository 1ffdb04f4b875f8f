/** The labels around code, tables and images in an answer. */
import { useMemo } from "react";
import { useLanguage } from "../../app/appServices";
import { textsIn } from "../../i18n/texts";
import { announce } from "../../ui/Announcer";
import type { MarkdownLabels } from "./markdown/labels";

/** Returns the same objects while the language is the same, so that answers are not rendered again. */
export function useMarkdownLabels(): { labels: MarkdownLabels; onCopied: () => void } {
  const language = useLanguage();
  return useMemo(() => {
    const t = textsIn(language, "markdown");
    const labels: MarkdownLabels = {
      copy: t("copy"),
      copied: t("copied"),
      copyTable: t("copyTable"),
      wrap: t("wrap"),
      download: t("download"),
      showAll: t("showAll", { n: "{n}" }),
      code: t("code"),
      table: t("table"),
      image: t("image"),
      done: t("done"),
      notDone: t("notDone"),
    };
    return { labels, onCopied: () => announce(labels.copied) };
  }, [language]);
}
