/** The list of files above the box. The focus stays in the box: what is meant is named to it. */
import { useEffect } from "react";
import { useLanguage } from "../../../app/page";
import { useWords } from "../../../i18n/words";
import { announce } from "../../../ui/Announcer";
import { ForeignText } from "../../../ui/ForeignText";
import { Icon } from "../../../ui/icons";
import { visibleName } from "../../../ui/names";
import { sayProblem } from "../../../ui/ProblemNote";
import type { FileList } from "./useFileList";

const WORDS = {
  files: ["Files", "文件"],
  none: ["No file fits", "没有匹配的文件"],
  asking: ["Looking…", "正在查找……"],
  found: ["{n} {n|file|files}. Up and down to choose, Enter to take one.", "{n} 个文件。上下键选择，回车确认。"],
  cut: ["The folder holds more than could be looked at.", "文件夹内容过多，未能全部查看。"],
} as const;

export function FileOptions({ list }: { list: FileList }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { items, isAsking } = list;
  const count = items?.length ?? null;
  useEffect(() => {
    if (count !== null && !isAsking) announce(count === 0 ? t("none") : t("found", { n: count }));
  }, [count, isAsking]);
  if (items === null) return null;
  const note =
    list.problem !== null
      ? sayProblem(list.problem, language)
      : items.length > 0
        ? list.isCut
          ? t("cut")
          : ""
        : t(isAsking ? "asking" : "none");
  return (
    <div className="file-options">
      <ul role="listbox" id={list.listId} aria-label={t("files")}>
        {items.map((item, index) => {
          const cut = item.path.lastIndexOf("/") + 1;
          return (
            <li
              key={item.path}
              id={list.optionId(index)}
              role="option"
              aria-selected={index === list.meant}
              className="file-option"
              ref={(element) => {
                if (index === list.meant) element?.scrollIntoView({ block: "nearest" });
              }}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => list.choose(index)}
            >
              <Icon name={item.is_folder ? "folder" : "file"} size={16} />
              <span className="file-name">
                <ForeignText text={visibleName(item.path.slice(cut)) + (item.is_folder ? "/" : "")} />
              </span>
              <span className="file-folder">
                <ForeignText text={visibleName(item.path.slice(0, cut))} />
              </span>
            </li>
          );
        })}
      </ul>
      {note !== "" && <p className="file-note soft small">{note}</p>}
    </div>
  );
}
