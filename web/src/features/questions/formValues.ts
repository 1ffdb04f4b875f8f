/** The questions of a call, the values of its form, and the answers made from them. */

export interface Question {
  readonly question: string;
  readonly options: readonly string[];
  readonly isMultiple: boolean;
}

/** `picked` are places among the options; `own` is what the person says in their own words. */
export interface FieldValue {
  readonly picked: readonly number[];
  readonly own: string;
  /** Whether their own words count. Where there are no options, they always do. */
  readonly isOwn: boolean;
}

export const EMPTY_VALUE: FieldValue = { picked: [], own: "", isOwn: false };

/** What a call asks. It comes from a model or from a server of tools: whatever has another form is left out. */
export function questionsOf(argumentsOfCall: unknown): readonly Question[] {
  const list: unknown = isRecord(argumentsOfCall) ? argumentsOfCall["questions"] : null;
  return (Array.isArray(list) ? list : []).map((each: unknown) => {
    const { question = "", options = [], multiple = false } = isRecord(each) ? each : {};
    const optionTexts = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
    return {
      question: typeof question === "string" ? question : "",
      options: optionTexts,
      isMultiple: multiple === true,
    };
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** One text for each question. Several choices stand on lines of their own: an option may hold a comma. */
export function answerOf({ options, isMultiple }: Question, { picked, own, isOwn }: FieldValue): string {
  if (options.length === 0) return own.trim();
  const pickedOptions = options.filter((_, index) => picked.includes(index));
  if (!isMultiple) return isOwn ? own.trim() : (pickedOptions[0] ?? "");
  return [...pickedOptions, ...(isOwn ? [own.trim()] : [])].filter((each) => each !== "").join("\n");
}

/** With an option picked, or not any more. */
export function toggleOption(question: Question, value: FieldValue, index: number): FieldValue {
  if (!question.isMultiple) return { ...value, picked: [index], isOwn: false };
  const has = value.picked.includes(index);
  return { ...value, picked: has ? value.picked.filter((each) => each !== index) : [...value.picked, index] };
}

/** With their own words taken, or, among several, not any more. */
export function toggleOwnText(question: Question, value: FieldValue): FieldValue {
  return question.isMultiple ? { ...value, isOwn: !value.isOwn } : { ...value, picked: [], isOwn: true };
}

/** Who writes something means it. */
export function setOwnText(question: Question, value: FieldValue, own: string): FieldValue {
  return { picked: question.isMultiple ? value.picked : [], own, isOwn: own.trim() !== "" || value.isOwn };
}

/** What was filled in before a reload, as far as it fits what is asked. */
export function parseStoredValues(stored: string | null, count: number): readonly FieldValue[] {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(stored ?? "null");
  } catch {
    // as if nothing had been filled in
  }
  const items: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  return Array.from({ length: count }, (_, index) => {
    const each = items[index];
    if (!isRecord(each)) return EMPTY_VALUE;
    const { picked, own, isOwn } = each;
    const indexes = Array.isArray(picked) ? picked.filter((one) => Number.isInteger(one)) : [];
    return { picked: indexes, own: typeof own === "string" ? own : "", isOwn: isOwn === true };
  });
}
