/** Puts something that opens beside what opens it: above everything else, and always on the screen. */

export type Place = "above" | "below" | "below-end";

const GAP = 6;
const EDGE = 8;

/** `list` has the attribute `popover`: nothing that scrolls around it cuts it off. */
export function putBeside(opener: Element, list: HTMLElement, place: Place): void {
  list.showPopover();
  const from = opener.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const above = from.top - GAP - EDGE;
  const below = innerHeight - from.bottom - GAP - EDGE;
  const isAbove = place === "above" ? above >= height || above > below : below < height && above > below;
  const room = isAbove ? above : below;
  const top = isAbove ? from.top - GAP - Math.min(height, room) : from.bottom + GAP;
  const left = place === "below-end" ? from.right - width : from.left;
  list.style.maxHeight = `${room}px`;
  list.style.top = `${top}px`;
  list.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - EDGE - width))}px`;
}
