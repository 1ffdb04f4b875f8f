/** One of a few, all of which are seen: as a row of words, or as a list where each says what it means. */
import { useId } from "react";
import "./choice.css";

export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly note?: string;
}

interface Given<T extends string> {
  legend: string;
  options: readonly Option<T>[];
  value: T;
  isRow?: boolean;
  onChange(value: T): void;
}

export function Choice<T extends string>({ legend, options, value, isRow = false, onChange }: Given<T>) {
  const name = useId();
  return (
    <fieldset className={isRow ? "choice is-row" : "choice"}>
      <legend>{legend}</legend>
      <div className="choice-options">
        {options.map((option) => (
          <label key={option.value}>
            <input type="radio" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
            <span>
              {option.label}
              {option.note !== undefined && <span className="choice-note">{option.note}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface Several<T extends string> extends Omit<Given<T>, "value" | "onChange"> {
  values: readonly T[];
  onChange(values: readonly T[]): void;
}

/** Any of them. */
export function Choices<T extends string>({ legend, options, values, isRow = false, onChange }: Several<T>) {
  const toggle = (value: T) =>
    onChange(values.includes(value) ? values.filter((each) => each !== value) : [...values, value]);
  return (
    <fieldset className={isRow ? "choice is-row" : "choice"}>
      <legend>{legend}</legend>
      <div className="choice-options">
        {options.map((option) => (
          <label key={option.value}>
            <input type="checkbox" checked={values.includes(option.value)} onChange={() => toggle(option.value)} />
            <span>
              {option.label}
              {option.note !== undefined && <span className="choice-note">{option.note}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
