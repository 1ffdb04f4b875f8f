/** The field of one question: options, multiple options, or text; always with a free-text answer. */
import { useId } from "react";
import { useTexts } from "../../i18n/texts";
import { ForeignText } from "../../ui/ForeignText";
import { type FieldValue, type Question, toggleOption, toggleOwnText, setOwnText } from "./formValues";

export function QuestionField({
  question,
  value,
  onChange,
}: {
  question: Question;
  value: FieldValue;
  onChange(to: FieldValue): void;
}) {
  const t = useTexts("questions");
  const id = useId();
  const { options, isMultiple } = question;
  const kind = isMultiple ? "checkbox" : "radio";
  const hasOptions = options.length > 0;
  const textarea = (
    <textarea
      className="field"
      rows={hasOptions ? 1 : 2}
      value={value.own}
      aria-label={hasOptions ? t("own") : t("answerField")}
      aria-describedby={`${id}-question`}
      placeholder={hasOptions ? t("own") : t("answerField")}
      onChange={(event) => onChange(setOwnText(question, value, event.target.value))}
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
      {options.map((option, index) => (
        <label key={index} className="question-option">
          <input
            type={kind}
            name={id}
            checked={value.picked.includes(index)}
            onChange={() => onChange(toggleOption(question, value, index))}
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
            checked={value.isOwn}
            aria-label={t("own")}
            onChange={() => onChange(toggleOwnText(question, value))}
          />
          {textarea}
        </div>
      ) : (
        textarea
      )}
    </fieldset>
  );
}
