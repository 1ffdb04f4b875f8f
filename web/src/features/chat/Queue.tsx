/** Messages that wait for the end of the turn: they can be changed and taken back. */
export function Queue({}: { id: string }) {
  return null;
}
