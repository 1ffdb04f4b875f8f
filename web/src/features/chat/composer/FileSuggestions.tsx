/**
 * The list of suggested files above the composer. The focus stays in the composer, which refers to the selected option.
 */
import { useEffect } from "react";
import { useLanguage } from "../../../app/appServices";
import { useTexts } from "../../../i18n/texts";
import { announce } from "../../../ui/Announcer";
import { ForeignText } from "../../../ui/ForeignText";
import { Icon } from "../../../ui/icons";
import { visibleName } from "../../../ui/safeText";
import { translateProblem } from "../../../ui/ProblemNote";
import type { FileSuggestionList } from "./useFileSuggestions";

export function FileSuggestions({ suggestions }: { suggestions: FileSuggestionList }) {
  const t = useTexts("fileSuggestions");
  const language = useLanguage();
  const { items, isLoading } = suggestions;
  const count = items?.length ?? null;
  useEffect(() => {
    if (count !== null && !isLoading) announce(count === 0 ? t("none") : t("found", { n: count }));
  }, [count, isLoading]);
  if (items === null) return null;
  const note =
    suggestions.problem !== null
      ? translateProblem(suggestions.problem, language)
      : items.length > 0
        ? suggestions.isCut
          ? t("cut")
          : ""
        : t(isLoading ? "asking" : "none");
  return (
    <div className="file-options">
      <ul role="listbox" id={suggestions.listId} aria-label={t("files")}>
        {items.map((item, index) => {
          const cut = item.path.lastIndexOf("/") + 1;
          return (
            <li
              key={item.path}
              id={suggestions.optionId(index)}
              role="option"
              aria-selected={index === suggestions.selectedIndex}
              className="file-option"
              ref={(element) => {
                if (index === suggestions.selectedIndex) element?.scrollIntoView({ block: "nearest" });
              }}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => suggestions.choose(index)}
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
