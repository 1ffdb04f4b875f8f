/** The content of a row in the transcript. */
import { memo } from "react";
import { VersionSwitch } from "../../branches/VersionSwitch";
import type { MessageVersions } from "../../branches/versions";
import { Answer } from "../Answer";
import { ErrorBubble } from "../ErrorBubble";
import { SystemNotice } from "../SystemNotice";
import { UserMessage, OutgoingMessage } from "../user-message/UserMessage";
import type { Row } from "./rows";

interface Props {
  row: Row;
  context: string;
  versions: MessageVersions | undefined;
}

export const RowView = memo(function RowView({ row, context, versions }: Props) {
  const versionSwitch = versions === undefined ? null : <VersionSwitch context={context} versions={versions} />;
  if (row.kind === "user") return <UserMessage messages={row.messages} context={context} versions={versionSwitch} />;
  return (
    <>
      <RowContent row={row} context={context} />
      {versionSwitch !== null && <div className="versions-line">{versionSwitch}</div>}
    </>
  );
});

function RowContent({ row, context }: { row: Exclude<Row, { kind: "user" }>; context: string }) {
  switch (row.kind) {
    case "sending":
      return <OutgoingMessage outgoing={row.outgoing} />;
    case "answer":
      return <Answer row={row} context={context} />;
    case "error":
      return <ErrorBubble message={row.message} context={context} />;
    case "notice":
      return <SystemNotice message={row.message} />;
  }
}
