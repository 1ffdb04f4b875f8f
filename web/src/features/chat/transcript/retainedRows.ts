/** Rows that stay mounted outside the viewport: the row with the focus and the rows of the text selection. */
import type { IndexRange } from "./indexRanges";

const MAX_SELECTED_ROWS = 200;

export class RetainedRows {
  private focused: string | null = null;
  private selected: readonly [string, string] | null = null;

  attach(list: HTMLElement): () => void {
    const control = new AbortController();
    const { signal } = control;
    list.addEventListener("focusin", ({ target }) => (this.focused = rowOf(target, list)), { signal });
    list.addEventListener("focusout", () => (this.focused = null), { signal });
    document.addEventListener(
      "selectionchange",
      () => {
        const selection = document.getSelection();
        const [from, to] = [rowOf(selection?.anchorNode ?? null, list), rowOf(selection?.focusNode ?? null, list)];
        this.selected = selection?.isCollapsed === false && from !== null && to !== null ? [from, to] : null;
      },
      { signal },
    );
    return () => control.abort();
  }

  /** The ranges of the retained rows. */
  ranges(indexOf: (id: string) => number | undefined): readonly IndexRange[] {
    const ends = [[this.focused, this.focused], this.selected ?? []];
    return ends.flatMap(([from, to]): readonly IndexRange[] => {
      const indexes = [from, to].flatMap((id) => (id == null ? [] : (indexOf(id) ?? []))).sort((a, b) => a - b);
      const [first, last] = indexes;
      return first === undefined || last === undefined || last - first > MAX_SELECTED_ROWS ? [] : [[first, last + 1]];
    });
  }
}

function rowOf(target: EventTarget | null, list: HTMLElement): string | null {
  const element = target instanceof Element ? target : target instanceof Node ? target.parentElement : null;
  const row = element?.closest<HTMLElement>("[data-row]") ?? null;
  return row !== null && list.contains(row) ? (row.dataset.row ?? null) : null;
}
