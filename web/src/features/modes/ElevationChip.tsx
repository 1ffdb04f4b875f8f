/** What is left of an elevation, with its countdown and its end. */
export function ElevationChip({}: { id: string }) {
  return null;
}
