/** Questions as a form has them, and what was filled in as the answers that are sent. */

export interface Question {
  readonly question: string;
  readonly options: readonly string[];
  readonly isMultiple: boolean;
}

/** `picked` are places among the options; `own` is what the person says in their own words. */
export interface Filled {
  readonly picked: readonly number[];
  readonly own: string;
  /** Whether their own words count. Where there are no options, they always do. */
  readonly isOwn: boolean;
}

export const UNFILLED: Filled = { picked: [], own: "", isOwn: false };

/** What a call asks. It comes from a model or from a server of tools: whatever has another form is left out. */
export function questionsOf(asked: unknown): readonly Question[] {
  const found: unknown = isRecord(asked) ? asked["questions"] : null;
  return (Array.isArray(found) ? found : []).map((each: unknown) => {
    const { question = "", options = [], multiple = false } = isRecord(each) ? each : {};
    const words = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
    return { question: typeof question === "string" ? question : "", options: words, isMultiple: multiple === true };
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** One text for each question. Several choices stand on lines of their own: an option may hold a comma. */
export function answerOf({ options, isMultiple }: Question, { picked, own, isOwn }: Filled): string {
  if (options.length === 0) return own.trim();
  const chosen = options.filter((_, place) => picked.includes(place));
  if (!isMultiple) return isOwn ? own.trim() : (chosen[0] ?? "");
  return [...chosen, ...(isOwn ? [own.trim()] : [])].filter((each) => each !== "").join("\n");
}

/** With an option picked, or not any more. */
export function pick(question: Question, filled: Filled, place: number): Filled {
  if (!question.isMultiple) return { ...filled, picked: [place], isOwn: false };
  const has = filled.picked.includes(place);
  return { ...filled, picked: has ? filled.picked.filter((each) => each !== place) : [...filled.picked, place] };
}

/** With their own words taken, or, among several, not any more. */
export function pickOwn(question: Question, filled: Filled): Filled {
  return question.isMultiple ? { ...filled, isOwn: !filled.isOwn } : { ...filled, picked: [], isOwn: true };
}

/** Who writes something means it. */
export function write(question: Question, filled: Filled, own: string): Filled {
  return { picked: question.isMultiple ? filled.picked : [], own, isOwn: own.trim() !== "" || filled.isOwn };
}

/** What was filled in before a reload, as far as it fits what is asked. */
export function filledOf(stored: string | null, count: number): readonly Filled[] {
  let found: unknown = null;
  try {
    found = JSON.parse(stored ?? "null");
  } catch {
    // as if nothing had been filled in
  }
  const kept: readonly unknown[] = Array.isArray(found) ? found : [];
  return Array.from({ length: count }, (_, place) => {
    const each = kept[place];
    if (!isRecord(each)) return UNFILLED;
    const { picked, own, isOwn } = each;
    const places = Array.isArray(picked) ? picked.filter((one) => Number.isInteger(one)) : [];
    return { picked: places, own: typeof own === "string" ? own : "", isOwn: isOwn === true };
  });
}
