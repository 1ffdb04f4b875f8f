import { defineConfig } from "vite";

/** Bundles the benchmark for Node. */
export default defineConfig({
  logLevel: "error",
  build: { ssr: "bench/main.ts", outDir: "node_modules/.bench", target: "node20", emptyOutDir: true },
});
