import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  worker: { format: "es" }, // so that the thread for code can fetch one grammar at a time
  test: { include: ["tests/**/*.test.{ts,tsx}"], environment: "node" },
});
