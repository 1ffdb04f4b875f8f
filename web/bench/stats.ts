/** Medians and percentiles. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

/** The first run is discarded, because it warms up caches. */
export async function median(runs: number, work: () => Promise<number>): Promise<number> {
  const samples: number[] = [];
  for (let run = 0; run < runs; run++) samples.push(await work());
  return percentile(samples.slice(1), 50);
}

export const percentOver = (values: readonly number[], over: number): number =>
  (values.filter((each) => each > over).length / Math.max(1, values.length)) * 100;
export const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
