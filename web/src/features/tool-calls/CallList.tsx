/** The calls of an answer, one line each. */
import type { CallView, ToolResult } from "../../api/schema";
import { CallLine } from "./CallLine";
import "./calls.css";

export function CallList({
  calls,
  results,
  context,
}: {
  calls: readonly CallView[];
  results: { readonly [id: string]: ToolResult };
  context: string;
}) {
  return (
    <ul className="calls">
      {calls.map((call) => (
        <CallLine key={call.id} call={call} result={results[call.id] ?? null} context={context} />
      ))}
    </ul>
  );
}
