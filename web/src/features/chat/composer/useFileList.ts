/** The files that are offered while somebody writes `@`: what is asked for, which one is meant, what choosing writes. */
import { type RefObject, useId, useRef, useState } from "react";
import type { FoundFile, Problem } from "../../../api/schema";
import { useAsked } from "../../../app/page";
import { insertText } from "./insert";
import { format, referenceAt } from "./references";

const OFFERED = 8;
const ASKED_AT_MOST = 200;

export interface FileList {
  /** Null while the list is closed. */
  readonly items: readonly FoundFile[] | null;
  readonly isAsking: boolean;
  readonly isCut: boolean;
  readonly problem: Problem | null;
  readonly meant: number;
  readonly listId: string;
  optionId(index: number): string;
  /** Looks at what stands at the caret. */
  look(): void;
  move(by: number): void;
  choose(index: number): void;
  /** The person does not want it for what they write now. */
  close(): void;
  /** It goes while they are elsewhere. */
  hide(): void;
  /** Lines are written right behind a file that was chosen: a colon takes the place of the space there. */
  takesColon(): boolean;
}

export function useFileList(
  id: string | null,
  box: RefObject<HTMLTextAreaElement | null>,
  ensure: () => Promise<unknown>,
): FileList {
  const listId = useId();
  const [at, setAt] = useState<{ start: number; query: string } | null>(null);
  const [meant, setMeant] = useState(0);
  const closedAt = useRef<number | null>(null);
  const spaceAt = useRef<number | null>(null);
  const last = useRef<readonly FoundFile[]>([]);
  const given =
    at === null || id === null
      ? null
      : { path: { context_id: id }, query: { query: at.query.slice(0, ASKED_AT_MOST), limit: OFFERED } };
  const asked = useAsked("GET /api/contexts/{context_id}/files", given);
  if (asked.value !== null) last.current = asked.value.items; // what was offered stays until there is something else
  const items = at === null ? null : last.current;

  const close = () => {
    closedAt.current = at?.start ?? null;
    setAt(null);
  };
  return {
    items,
    isAsking: asked.value === null && asked.problem === null,
    isCut: asked.value?.is_cut ?? false,
    problem: asked.problem,
    meant: Math.min(meant, Math.max(0, (items?.length ?? 0) - 1)),
    listId,
    optionId: (index) => `${listId}-${index}`,
    look() {
      const area = box.current;
      const found =
        area === null || area.selectionStart !== area.selectionEnd ? null : referenceAt(area.value, area.selectionEnd);
      if (found === null) closedAt.current = null;
      if (found === null || found.start === closedAt.current) return setAt(null);
      if (at === null) last.current = [];
      setMeant(0);
      setAt(found);
      if (id === null) void ensure();
    },
    move: (by) => setMeant((old) => (old + by + (items?.length ?? 1)) % Math.max(1, items?.length ?? 1)),
    choose(index) {
      const item = items?.[index];
      const area = box.current;
      if (at === null || area === null || item === undefined) return;
      const caret = area.selectionEnd;
      if (item.is_folder) return insertText(area, at.start, caret, format(`${item.path}/`).replace(/"$/, ""));
      insertText(area, at.start, caret, `${format(item.path)} `);
      spaceAt.current = area.selectionEnd;
      setAt(null);
    },
    close,
    hide: () => setAt(null),
    takesColon() {
      const area = box.current;
      const caret = area?.selectionEnd ?? -1;
      if (area === null || caret !== spaceAt.current || area.selectionStart !== caret || area.value[caret - 1] !== " ")
        return false;
      spaceAt.current = null;
      insertText(area, caret - 1, caret, ":");
      return true;
    },
  };
}
