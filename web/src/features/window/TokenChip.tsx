/** How full the window is, and what the conversation has cost. */
export function TokenChip({}: { id: string }) {
  return null;
}
