/**
 * The steps of a daemon's start, in their order, in words for whoever waits. A step ends when the next one is
 * reported; a start may leave some of them out.
 */
export const startSteps = {
  launch: 'starting the process',
  program: 'loading the program',
  port: 'taking the port',
  history: 'seeding the demo',
  store: 'loading the store',
  chain: 'opening the chain',
  market: 'opening the market',
  seed: 'seeding services',
  recovery: 'finishing the last run',
  serve: 'starting to serve',
} as const

export type StartStep = keyof typeof startSteps

/** Takes each step; `detail` counts within it: `40 %`, `day 31 of 98`. Throws where the start was called off. */
export type ReportStart = (step: StartStep, detail?: string) => void

/** A report as a line for people. */
export function startWords({ step, detail }: { readonly step: string; readonly detail?: string | undefined }): string {
  const words: string = Object.entries(startSteps).find(([name]) => name === step)?.[1] ?? step
  return detail === undefined ? words : `${words}: ${detail}`
}
