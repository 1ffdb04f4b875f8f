/** Actions for any conversation, open or not: rename, export, archive, delete. */
import { type ReactNode, useState } from "react";
import { urlOf } from "../../api/http";
import { problemOfError } from "../../api/types";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { openTabs } from "../../store/selectors";
import { Icon } from "../../ui/icons";
import type { MenuEntry } from "../../ui/Menu";
import { visibleLine } from "../../ui/safeText";
import { notify } from "../../ui/Notices";
import { translateProblem } from "../../ui/ProblemNote";
import { DeleteDialog } from "./DeleteDialog";
import { refreshConversations } from "./useConversations";

interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly archived: boolean;
}

/** The menu entries of a conversation, and the dialog that an entry opens. */
export function useConversationActions(
  { id, title, archived }: Conversation,
  onRename: () => void,
): { entries: readonly MenuEntry[]; dialog: ReactNode } {
  const t = useTexts("conversationActions");
  const language = useLanguage();
  const { act, api, basePath, store } = useAppServices();
  const [isDeleting, setDeleting] = useState(false);
  const archive = async () => {
    try {
      await api("PATCH /api/contexts/{context_id}", { path: { context_id: id }, body: { archived: !archived } });
      refreshConversations();
      if (archived) return;
      if (openTabs(store.getSnapshot()).some((tab) => tab.id === id)) act({ kind: "close", id });
      notify(t("archived", { title }));
    } catch (error) {
      notify(translateProblem(problemOfError(error), language), true);
    }
  };
  const download = (format: "markdown" | "pilothouse") => {
    const link = document.createElement("a");
    const path = urlOf("/api/contexts/{context_id}/export", { path: { context_id: id }, query: { format } });
    link.href = basePath + path;
    link.download = "";
    link.click();
  };
  const entries: readonly MenuEntry[] = [
    { key: "rename", label: t("rename"), icon: <Icon name="edit" />, onSelect: onRename },
    {
      key: "markdown",
      label: t("markdown"),
      note: t("markdownNote"),
      icon: <Icon name="export" />,
      onSelect: () => download("markdown"),
    },
    {
      key: "file",
      label: t("file"),
      note: t("fileNote"),
      icon: <Icon name="file" />,
      onSelect: () => download("pilothouse"),
    },
    {
      key: "archive",
      label: t(archived ? "restore" : "archive"),
      icon: <Icon name="archive" />,
      onSelect: () => void archive(),
    },
    {
      key: "delete",
      label: t("delete"),
      icon: <Icon name="trash" />,
      isDangerous: true,
      onSelect: () => setDeleting(true),
    },
  ];
  const dialog = isDeleting && <DeleteDialog id={id} title={title} onClose={() => setDeleting(false)} />;
  return { entries, dialog };
}

export function useTitleText(): (title: string | null | undefined) => string {
  const t = useTexts("conversationActions");
  return (title) => visibleLine(title ?? t("untitled"));
}

/** The current title of an open conversation. */
export function useContextTitle(id: string): string {
  const title = useTitleText();
  return title(useSelector((state) => state.contexts[id]?.view.value?.title, [id]));
}
