/** What can be done with the conversation as a whole: rename, export, archive, delete. */
export function ConversationMenu({}: { id: string }) {
  return null;
}
