/** Which model answers, and as which persona. */
export function ModelMenu({}: { id: string | null }) {
  return null;
}
