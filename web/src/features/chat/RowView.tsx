/** One line of the transcript. */
import { memo } from "react";
import { VersionSwitch } from "../branches/VersionSwitch";
import type { Versions } from "../branches/versions";
import { Answer } from "./Answer";
import { ErrorBubble } from "./ErrorBubble";
import { Mark } from "./Mark";
import { Said, Sending } from "./Said";
import type { Row } from "./rows";

interface Given {
  row: Row;
  context: string;
  versions: Versions | undefined;
}

export const RowView = memo(function RowView({ row, context, versions }: Given) {
  const choice = versions === undefined ? null : <VersionSwitch context={context} versions={versions} />;
  if (row.kind === "said") return <Said messages={row.messages} context={context} versions={choice} />;
  return (
    <>
      <Line row={row} context={context} />
      {choice !== null && <div className="versions-line">{choice}</div>}
    </>
  );
});

function Line({ row, context }: { row: Exclude<Row, { kind: "said" }>; context: string }) {
  switch (row.kind) {
    case "sending":
      return <Sending outgoing={row.outgoing} />;
    case "answer":
      return <Answer row={row} context={context} />;
    case "error":
      return <ErrorBubble message={row.message} context={context} />;
    case "mark":
      return <Mark message={row.message} />;
  }
}
