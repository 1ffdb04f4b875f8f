/** The calls of an answer, each on a calm line of its own with what became of it. */
import type { CallView, ToolResult } from "../../api/schema";
import { CallLine } from "./CallLine";
import "./calls.css";

export function Calls({
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
