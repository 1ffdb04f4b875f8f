/** File suggestions while the user types `@`: the query, the selected item, and the text that choosing inserts. */
import { type RefObject, useId, useRef, useState } from "react";
import type { FoundFile, Problem } from "../../../api/schema";
import { useQuery } from "../../../app/appServices";
import { insertText } from "./insertText";
import { formatReference, referenceAt } from "./references";

const MAX_SUGGESTIONS = 8;
const MAX_QUERY_CHARACTERS = 200;

export interface FileSuggestionList {
  /** Null while the list is closed. */
  readonly items: readonly FoundFile[] | null;
  readonly isLoading: boolean;
  readonly isCut: boolean;
  readonly problem: Problem | null;
  readonly selectedIndex: number;
  readonly listId: string;
  optionId(index: number): string;
  /** Updates the list from the text at the caret. */
  update(): void;
  move(by: number): void;
  choose(index: number): void;
  /** Closes the list until the user starts another reference. */
  close(): void;
  /** Hides the list while the composer does not have the focus. */
  hide(): void;
  /** Handles a colon right after an inserted file: it replaces the space, so that a line range can follow. */
  takesColon(): boolean;
}

export function useFileSuggestions(
  id: string | null,
  textarea: RefObject<HTMLTextAreaElement | null>,
  ensureContext: () => Promise<unknown>,
): FileSuggestionList {
  const listId = useId();
  const [reference, setReference] = useState<{ start: number; query: string } | null>(null);
  const [selectedIndex, setSelectedIndex] = useState(0);
  const closedAt = useRef<number | null>(null);
  const spaceAt = useRef<number | null>(null);
  const lastItems = useRef<readonly FoundFile[]>([]);
  const input =
    reference === null || id === null
      ? null
      : {
          path: { context_id: id },
          query: { query: reference.query.slice(0, MAX_QUERY_CHARACTERS), limit: MAX_SUGGESTIONS },
        };
  const files = useQuery("GET /api/contexts/{context_id}/files", input);
  // The previous suggestions stay until new ones arrive.
  if (files.value !== null) lastItems.current = files.value.items;
  const items = reference === null ? null : lastItems.current;

  const close = () => {
    closedAt.current = reference?.start ?? null;
    setReference(null);
  };
  return {
    items,
    isLoading: files.value === null && files.problem === null,
    isCut: files.value?.is_cut ?? false,
    problem: files.problem,
    selectedIndex: Math.min(selectedIndex, Math.max(0, (items?.length ?? 0) - 1)),
    listId,
    optionId: (index) => `${listId}-${index}`,
    update() {
      const area = textarea.current;
      const candidate =
        area === null || area.selectionStart !== area.selectionEnd ? null : referenceAt(area.value, area.selectionEnd);
      if (candidate === null) closedAt.current = null;
      if (candidate === null || candidate.start === closedAt.current) return setReference(null);
      if (reference === null) lastItems.current = [];
      setSelectedIndex(0);
      setReference(candidate);
      if (id === null) void ensureContext();
    },
    move: (by) => setSelectedIndex((old) => (old + by + (items?.length ?? 1)) % Math.max(1, items?.length ?? 1)),
    choose(index) {
      const item = items?.[index];
      const area = textarea.current;
      if (reference === null || area === null || item === undefined) return;
      const caret = area.selectionEnd;
      if (item.is_folder)
        return insertText(area, reference.start, caret, formatReference(`${item.path}/`).replace(/"$/, ""));
      insertText(area, reference.start, caret, `${formatReference(item.path)} `);
      spaceAt.current = area.selectionEnd;
      setReference(null);
    },
    close,
    hide: () => setReference(null),
    takesColon() {
      const area = textarea.current;
      const caret = area?.selectionEnd ?? -1;
      if (area === null || caret !== spaceAt.current || area.selectionStart !== caret || area.value[caret - 1] !== " ")
        return false;
      spaceAt.current = null;
      insertText(area, caret - 1, caret, ":");
      return true;
    },
  };
}
