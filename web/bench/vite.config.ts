import { defineConfig } from "vite";

/** The measuring program, made into something that any Node runs. */
export default defineConfig({
  logLevel: "error",
  build: { ssr: "bench/main.ts", outDir: "node_modules/.bench", target: "node20", emptyOutDir: true },
});
