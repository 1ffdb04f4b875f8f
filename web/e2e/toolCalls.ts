/** Calls and answers that several stories use. */
import type { Answer, Call } from "./model";

export const calls = (...calls: Call[]): Answer => ({ calls });
export const write = (path: string, content = `${path}\n`): Call => ({
  tool: "write_file",
  arguments: { path, content },
});
export const read = (path: string): Call => ({ tool: "read_file", arguments: { path } });
export const run = (command: string): Call => ({ tool: "execute", arguments: { command } });
/** Appends a line with each run. */
export const COUNTED_RUN = run("echo ran >> count.txt");
