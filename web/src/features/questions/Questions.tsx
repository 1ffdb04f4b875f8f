/** The questions that the agent has asked, as a form. */
export function Questions({}: { id: string }) {
  return null;
}
