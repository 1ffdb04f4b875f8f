/** What is open and closed in a row that was drawn before, so that it is so again when the row comes back. */
export class Disclosed {
  private readonly rows = new Map<string, Map<number, boolean>>();

  attach(list: HTMLElement): () => void {
    const note = ({ target }: Event) => {
      if (!(target instanceof HTMLDetailsElement)) return;
      const row = target.closest<HTMLElement>("[data-row]");
      const id = row?.dataset.row;
      if (row === null || id === undefined) return;
      const known = this.rows.get(id) ?? new Map<number, boolean>();
      known.set([...row.querySelectorAll("details")].indexOf(target), target.open);
      this.rows.set(id, known);
    };
    list.addEventListener("toggle", note, true);
    return () => list.removeEventListener("toggle", note, true);
  }

  restore(id: string, row: HTMLElement): void {
    const all = row.querySelectorAll("details");
    for (const [index, isOpen] of this.rows.get(id) ?? []) {
      const found = all[index];
      if (found !== undefined) found.open = isOpen;
    }
  }
}
