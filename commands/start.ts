import { realSystem } from '../src/cli/env.ts'
import { main } from '../src/cli/main.ts'
import { groups } from './groups.ts'
import { entries } from './index.ts'

/** Runs the command line of this process. @returns the exit code. */
export function start(script: string): Promise<number> {
  return main(realSystem(script), { entries, groups })
}
