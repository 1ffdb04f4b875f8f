/** Server-sent events out of pieces of text, however they were cut. */
export interface ServerEvent {
  name: string;
  data: string;
}

/** Gives the events that a piece completes. What is still open stays for the next piece. */
export function makeParser(): (piece: string) => ServerEvent[] {
  let rest = "";
  let name = "";
  let data: string[] = [];
  return (piece) => {
    const found: ServerEvent[] = [];
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) found.push({ name: name || "message", data: data.join("\n") });
        name = "";
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") name = value;
      if (field === "data") data.push(value);
    }
    return found;
  };
}
