/** Steps of the daemon's start in order, with their texts. A step ends when the next begins; some may be skipped. */
export const startSteps = {
  launch: 'starting the process',
  program: 'loading the program',
  port: 'opening the port',
  history: 'seeding the demo',
  store: 'loading the store',
  chain: 'opening the chain',
  market: 'opening the market',
  seed: 'seeding services',
  recovery: 'recovering the last run',
  serve: 'starting to serve',
} as const

export type StartStep = keyof typeof startSteps

/** Reports a step; `detail` is progress, such as `40 %` or `day 31 of 98`. Throws when the start is cancelled. */
export type ReportStart = (step: StartStep, detail?: string) => void

/** A step as one line of text, with its progress. */
export function startWords({ step, detail }: { readonly step: string; readonly detail?: string | undefined }): string {
  const words: string = Object.entries(startSteps).find(([name]) => name === step)?.[1] ?? step
  return detail === undefined ? words : `${words}: ${detail}`
}
