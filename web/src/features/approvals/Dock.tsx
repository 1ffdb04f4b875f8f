/** The calls that wait for a decision, always on screen above the box. */
export function Dock({}: { id: string }) {
  return null;
}
