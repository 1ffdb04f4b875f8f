/** Positions a popover beside its button and within the window. */

export type PopoverPlacement = "above" | "below" | "below-end";

const GAP_PX = 6;
const EDGE_PX = 8;

/**
 * Shows and positions `list`, which has the attribute `popover`: the top layer is not clipped by scrolling ancestors.
 */
export function placePopover(trigger: Element, list: HTMLElement, placement: PopoverPlacement): void {
  list.showPopover();
  const from = trigger.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const above = from.top - GAP_PX - EDGE_PX;
  const below = innerHeight - from.bottom - GAP_PX - EDGE_PX;
  const isAbove = placement === "above" ? above >= height || above > below : below < height && above > below;
  const room = isAbove ? above : below;
  const top = isAbove ? from.top - GAP_PX - Math.min(height, room) : from.bottom + GAP_PX;
  const left = placement === "below-end" ? from.right - width : from.left;
  list.style.maxHeight = `${room}px`;
  list.style.top = `${top}px`;
  list.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - EDGE_PX - width))}px`;
}
