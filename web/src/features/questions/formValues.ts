/** Questions of a call, values of its form, and the answers made from them. */

export interface Question {
  readonly question: string;
  readonly options: readonly string[];
  readonly isMultiple: boolean;
}

/** `picked` contains option indexes; `own` is the free-text answer. */
export interface FieldValue {
  readonly picked: readonly number[];
  readonly own: string;
  /** Whether the free-text answer is selected. Without options, it always counts. */
  readonly isOwn: boolean;
}

export const EMPTY_VALUE: FieldValue = { picked: [], own: "", isOwn: false };

/** Parses the questions of a call. The arguments come from a model or an MCP server: malformed parts are dropped. */
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

/** The answer to a question. Multiple options are joined by line ends, because an option may contain a comma. */
export function answerOf({ options, isMultiple }: Question, { picked, own, isOwn }: FieldValue): string {
  if (options.length === 0) return own.trim();
  const pickedOptions = options.filter((_, index) => picked.includes(index));
  if (!isMultiple) return isOwn ? own.trim() : (pickedOptions[0] ?? "");
  return [...pickedOptions, ...(isOwn ? [own.trim()] : [])].filter((each) => each !== "").join("\n");
}

/** Selects an option, or toggles it in a multiple choice. */
export function toggleOption(question: Question, value: FieldValue, index: number): FieldValue {
  if (!question.isMultiple) return { ...value, picked: [index], isOwn: false };
  const has = value.picked.includes(index);
  return { ...value, picked: has ? value.picked.filter((each) => each !== index) : [...value.picked, index] };
}

/** Selects the free-text answer, or toggles it in a multiple choice. */
export function toggleOwnText(question: Question, value: FieldValue): FieldValue {
  return question.isMultiple ? { ...value, isOwn: !value.isOwn } : { ...value, picked: [], isOwn: true };
}

/** Sets the free-text answer and selects it. */
export function setOwnText(question: Question, value: FieldValue, own: string): FieldValue {
  return { picked: question.isMultiple ? value.picked : [], own, isOwn: own.trim() !== "" || value.isOwn };
}

/** Parses stored values, as far as they fit the number of questions. */
export function parseStoredValues(stored: string | null, count: number): readonly FieldValue[] {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(stored ?? "null");
  } catch {
    // an invalid value counts as empty
  }
  const items: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  return Array.from({ length: count }, (_, index) => {
    const each = items[index];
    if (!isRecord(each)) return EMPTY_VALUE;
    const { picked, own, isOwn } = each;
    const indexes = Array.isArray(picked) ? picked.filter((index) => Number.isInteger(index)) : [];
    return { picked: indexes, own: typeof own === "string" ? own : "", isOwn: isOwn === true };
  });
}
