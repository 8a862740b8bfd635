import type { DaemonDoor } from '../src/cli/door.ts'
import { realSystem } from '../src/cli/env.ts'
import { groups } from '../src/cli/run/groups.ts'
import { main } from '../src/cli/run/main.ts'
import { entries } from './index.ts'

/** Runs the command line. @returns the exit code */
export function start(script: string, daemon: () => Promise<DaemonDoor>): Promise<number> {
  return main(realSystem(script, daemon), { entries, groups })
}
