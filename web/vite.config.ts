import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/pilothouse/server/web",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // the page's policy lets nothing in that is not a file of ours
    reportCompressedSize: false,
  },
  worker: { format: "es" }, // so that the thread for code can fetch one grammar at a time
  test: { include: ["tests/**/*.test.{ts,tsx}"], environment: "node", testTimeout: 30_000, hookTimeout: 30_000 },
});
