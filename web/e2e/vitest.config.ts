import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: process.env.PILOTHOUSE_PICTURES === undefined ? ["**/*.story.ts"] : ["pictures.ts"],
    environment: "node",
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 30 } },
  },
});
