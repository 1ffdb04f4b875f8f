/** One question: choices, several choices, or words; and always the person's own words. */
import { useId } from "react";
import { useWords } from "../../i18n/words";
import { ForeignText } from "../../ui/ForeignText";
import { type Filled, type Question, pick, pickOwn, write } from "./answers";
import { WORDS } from "./words";

export function QuestionField({
  question,
  filled,
  onChange,
}: {
  question: Question;
  filled: Filled;
  onChange(to: Filled): void;
}) {
  const t = useWords(WORDS);
  const id = useId();
  const { options, isMultiple } = question;
  const kind = isMultiple ? "checkbox" : "radio";
  const hasOptions = options.length > 0;
  const words = (
    <textarea
      className="field"
      rows={hasOptions ? 1 : 2}
      value={filled.own}
      aria-label={hasOptions ? t("own") : t("answerField")}
      aria-describedby={`${id}-question`}
      placeholder={hasOptions ? t("own") : t("answerField")}
      onChange={(event) => onChange(write(question, filled, event.target.value))}
    />
  );
  return (
    <fieldset
      className="question"
      role={hasOptions && !isMultiple ? "radiogroup" : undefined}
      aria-labelledby={`${id}-question`}
    >
      <p id={`${id}-question`} className="question-words">
        <ForeignText text={question.question} />
      </p>
      {isMultiple && hasOptions && <p className="soft small">{t("several")}</p>}
      {options.map((option, place) => (
        <label key={place} className="question-option">
          <input
            type={kind}
            name={id}
            checked={filled.picked.includes(place)}
            onChange={() => onChange(pick(question, filled, place))}
          />
          <span>
            <ForeignText text={option} />
          </span>
        </label>
      ))}
      {hasOptions ? (
        <div className="question-option">
          <input
            type={kind}
            name={id}
            checked={filled.isOwn}
            aria-label={t("own")}
            onChange={() => onChange(pickOwn(question, filled))}
          />
          {words}
        </div>
      ) : (
        words
      )}
    </fieldset>
  );
}
