/** Calls and answers that many stories use. */
import type { Answer, Call } from "./model";

export const asks = (...calls: Call[]): Answer => ({ calls });
export const write = (path: string, content = `${path}\n`): Call => ({
  tool: "write_file",
  arguments: { path, content },
});
export const read = (path: string): Call => ({ tool: "read_file", arguments: { path } });
export const run = (command: string): Call => ({ tool: "execute", arguments: { command } });
/** Each run of it leaves one more line. */
export const COUNTS = run("echo ran >> count.txt");
