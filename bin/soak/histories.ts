import { runJobHistories } from '../../fixtures/market/job-histories.ts'

/** Random histories of jobs, each cent looked for after every step; a fault is a throw. */
export async function run(histories: number): Promise<{ histories: number; faults: number }> {
  await runJobHistories(histories)
  return { histories, faults: 0 }
}
