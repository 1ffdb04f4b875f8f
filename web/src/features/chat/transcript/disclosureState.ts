/** Remembers which details of a row are open, and restores them when the row is mounted again. */
export class DisclosureState {
  private readonly rows = new Map<string, Map<number, boolean>>();

  attach(list: HTMLElement): () => void {
    const onToggle = ({ target }: Event) => {
      if (!(target instanceof HTMLDetailsElement)) return;
      const row = target.closest<HTMLElement>("[data-row]");
      const id = row?.dataset.row;
      if (row === null || id === undefined) return;
      const openStates = this.rows.get(id) ?? new Map<number, boolean>();
      openStates.set([...row.querySelectorAll("details")].indexOf(target), target.open);
      this.rows.set(id, openStates);
    };
    list.addEventListener("toggle", onToggle, true);
    return () => list.removeEventListener("toggle", onToggle, true);
  }

  restore(id: string, row: HTMLElement): void {
    const all = row.querySelectorAll("details");
    for (const [index, isOpen] of this.rows.get(id) ?? []) {
      const details = all[index];
      if (details !== undefined) details.open = isOpen;
    }
  }
}
