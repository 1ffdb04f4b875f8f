/** What can be done with any conversation, open or not: take along, archive, delete. */
import { type ReactNode, useState } from "react";
import { addressOf } from "../../api/http";
import { problemOfError } from "../../api/types";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { tabs } from "../../store/selectors";
import { Icon } from "../../ui/icons";
import type { MenuEntry } from "../../ui/Menu";
import { visibleLine } from "../../ui/names";
import { notify } from "../../ui/Notices";
import { sayProblem } from "../../ui/ProblemNote";
import { DeleteDialog } from "./DeleteDialog";
import { listChanged } from "./useConversations";

const WORDS = {
  rename: ["Rename", "重命名"],
  markdown: ["Export as Markdown", "导出为 Markdown"],
  markdownNote: ["To read or to share", "用于阅读或分享"],
  file: ["Export as a file", "导出为文件"],
  fileNote: ["Everything; can be imported again", "全部内容；可再次导入"],
  archive: ["Archive", "归档"],
  restore: ["Take out of the archive", "移出归档"],
  archived: ["Archived: “{title}”.", "已归档：“{title}”。"],
  delete: ["Delete…", "删除……"],
} as const;

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly archived: boolean;
}

/** The entries of its menu, and the dialog that one of them opens. */
export function useActions(
  { id, title, archived }: Conversation,
  onRename: () => void,
): { entries: readonly MenuEntry[]; dialog: ReactNode } {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act, api, store } = usePage();
  const [isDeleting, setDeleting] = useState(false);
  const archive = async () => {
    try {
      await api("PATCH /api/contexts/{context_id}", { path: { context_id: id }, body: { archived: !archived } });
      listChanged();
      if (archived) return;
      if (tabs(store.getSnapshot()).some((tab) => tab.id === id)) act({ kind: "close", id });
      notify(t("archived", { title }));
    } catch (error) {
      notify(sayProblem(problemOfError(error), language), true);
    }
  };
  const download = (format: "markdown" | "pilothouse") => {
    const link = document.createElement("a");
    link.href = addressOf("/api/contexts/{context_id}/export", { path: { context_id: id }, query: { format } });
    link.download = "";
    link.click();
  };
  const entries: readonly MenuEntry[] = [
    { key: "rename", label: t("rename"), sign: <Icon name="edit" />, onChoose: onRename },
    {
      key: "markdown",
      label: t("markdown"),
      note: t("markdownNote"),
      sign: <Icon name="export" />,
      onChoose: () => download("markdown"),
    },
    {
      key: "file",
      label: t("file"),
      note: t("fileNote"),
      sign: <Icon name="file" />,
      onChoose: () => download("pilothouse"),
    },
    {
      key: "archive",
      label: t(archived ? "restore" : "archive"),
      sign: <Icon name="archive" />,
      onChoose: () => void archive(),
    },
    {
      key: "delete",
      label: t("delete"),
      sign: <Icon name="trash" />,
      isDangerous: true,
      onChoose: () => setDeleting(true),
    },
  ];
  const dialog = isDeleting && <DeleteDialog id={id} title={title} onClose={() => setDeleting(false)} />;
  return { entries, dialog };
}

const UNTITLED = { untitled: ["Untitled", "未命名"] } as const;

export function useTitle(): (title: string | null | undefined) => string {
  const t = useWords(UNTITLED);
  return (title) => visibleLine(title ?? t("untitled"));
}

/** The title of an open conversation, as it is now. */
export function useTitleOf(id: string): string {
  const title = useTitle();
  return title(useSlice((state) => state.contexts[id]?.shape.value?.title, [id]));
}
