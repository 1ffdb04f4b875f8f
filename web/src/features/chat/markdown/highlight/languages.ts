/** The highlighted languages, with their names in fences and their file extensions. */

interface Language {
  readonly name: string;
  readonly extension: string;
}

// Name, file extension, aliases.
const LANGUAGE_TABLE = [
  ["typescript", "ts", "mts", "cts"],
  ["tsx", "tsx"],
  ["javascript", "js", "mjs", "cjs", "node"],
  ["jsx", "jsx"],
  ["json", "json", "jsonl", "webmanifest"],
  ["jsonc", "jsonc", "json5"],
  ["python", "py", "python3", "py3", "pyi", "ipython"],
  ["shellscript", "sh", "bash", "shell", "zsh", "ksh", "console", "shell-session", "shellsession"],
  ["html", "html", "htm"],
  ["css", "css"],
  ["scss", "scss"],
  ["yaml", "yaml", "yml"],
  ["toml", "toml"],
  ["ini", "ini", "conf", "properties", "cfg"],
  ["sql", "sql", "postgres", "postgresql", "mysql", "sqlite"],
  ["rust", "rs"],
  ["go", "go", "golang"],
  ["java", "java"],
  ["c", "c", "h"],
  ["cpp", "cpp", "c++", "cc", "cxx", "hpp"],
  ["csharp", "cs", "c#"],
  ["ruby", "rb"],
  ["php", "php"],
  ["markdown", "md", "mdx"],
  ["diff", "diff", "patch"],
  ["docker", "dockerfile"],
  ["make", "mk", "makefile"],
  ["xml", "xml", "svg", "xsl"],
  ["kotlin", "kt", "kts"],
  ["swift", "swift"],
  ["lua", "lua"],
  ["dart", "dart"],
  ["powershell", "ps1", "pwsh", "ps"],
] as const;

export type LanguageName = (typeof LANGUAGE_TABLE)[number][0];

const BY_NAME = new Map<string, Language & { readonly name: LanguageName }>();
for (const [name, extension, ...aliases] of LANGUAGE_TABLE) {
  for (const alias of [name, extension, ...aliases]) BY_NAME.set(alias, { name, extension });
}

/** The language of a fence: the first word of its info string. */
export function languageOf(info: string): (Language & { readonly name: LanguageName }) | undefined {
  return BY_NAME.get((info.split(/[\s,{:]/, 1)[0] ?? "").toLowerCase());
}
