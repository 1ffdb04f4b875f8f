/** The calls of an answer, each on a line of its own with what became of it. */
import type { CallShape, ToolResult } from "../../api/schema";
import { toolName, visibleText } from "../../ui/names";

export function Calls({ calls, results }: { calls: readonly CallShape[]; results: { readonly [id: string]: ToolResult }; context: string }) {
  return (
    <ul className="calls">
      {calls.map((call) => (
        <li key={call.id}>
          <details>
            <summary>
              {toolName(call)} · {call.status}
            </summary>
            <pre>{visibleText(JSON.stringify(call.arguments, null, 2))}</pre>
            <pre>{visibleText(results[call.id]?.content ?? "")}</pre>
          </details>
        </li>
      ))}
    </ul>
  );
}
