/** Radio buttons and checkboxes in a fieldset, as a row or as a list with a note for each option. */
import { type ReactNode, useId } from "react";
import { ForeignText } from "./ForeignText";
import "./choice-group.css";

interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly note?: string;
}

interface RadioGroupProps<T extends string> {
  legend: string;
  options: readonly Option<T>[];
  value: T;
  isRow?: boolean;
  onChange(value: T): void;
}

export function RadioGroup<T extends string>({ value, onChange, ...group }: RadioGroupProps<T>) {
  const name = useId();
  return (
    <OptionList {...group}>
      {(option) => <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />}
    </OptionList>
  );
}

interface CheckboxGroupProps<T extends string> extends Omit<RadioGroupProps<T>, "value" | "onChange"> {
  values: readonly T[];
  onChange(values: readonly T[]): void;
}

/** A group of checkboxes. */
export function CheckboxGroup<T extends string>({ values, onChange, ...group }: CheckboxGroupProps<T>) {
  const toggle = (value: T) =>
    onChange(values.includes(value) ? values.filter((each) => each !== value) : [...values, value]);
  return (
    <OptionList {...group}>
      {(option) => <input type="checkbox" checked={values.includes(option)} onChange={() => toggle(option)} />}
    </OptionList>
  );
}

interface OptionsProps<T extends string> extends Omit<RadioGroupProps<T>, "value" | "onChange"> {
  children(value: T): ReactNode;
}

function OptionList<T extends string>({ legend, options, isRow = false, children }: OptionsProps<T>) {
  return (
    <fieldset className={isRow ? "choice is-row" : "choice"}>
      <legend>{legend}</legend>
      <div className="choice-options">
        {options.map((option) => (
          <label key={option.value}>
            {children(option.value)}
            <span>
              <ForeignText text={option.label} />
              {option.note !== undefined && (
                <span className="choice-note">
                  <ForeignText text={option.note} />
                </span>
              )}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
