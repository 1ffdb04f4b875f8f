/** Stand-in until the real one is merged. */
export function Markdown({ text }: { text: string; isStreaming: boolean }) {
  return <div className="markdown" style={{ whiteSpace: "pre-wrap" }}>{text}</div>;
}
