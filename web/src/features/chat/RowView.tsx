/** One line of the transcript. */
import { memo } from "react";
import { Answer } from "./Answer";
import { ErrorBubble } from "./ErrorBubble";
import { Mark } from "./Mark";
import { Said, Sending } from "./Said";
import type { Row } from "./rows";

export const RowView = memo(function RowView({ row, context }: { row: Row; context: string }) {
  switch (row.kind) {
    case "said":
      return <Said messages={row.messages} context={context} />;
    case "sending":
      return <Sending outgoing={row.outgoing} />;
    case "answer":
      return <Answer row={row} context={context} />;
    case "error":
      return <ErrorBubble message={row.message} context={context} />;
    case "mark":
      return <Mark message={row.message} />;
  }
});
