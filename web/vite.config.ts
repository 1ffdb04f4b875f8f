import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  base: "./", // relative addresses: the server may lie below a path prefix
  build: {
    outDir: "../src/pilothouse/server/web",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // the content security policy allows files of our origin only
    reportCompressedSize: false,
  },
  worker: { format: "es" }, // lets the highlighting worker load grammars one by one
  test: { include: ["tests/**/*.test.{ts,tsx}"], environment: "node", testTimeout: 30_000, hookTimeout: 30_000 },
});
