import type { Command } from '../command.ts'
import { Duration } from '../duration.ts'
import * as z from '../params.ts'

const INTERVAL_MS = 2_000
const INTERVAL_MS_MIN = 200

export const watchOptions = {
  watch: z.flag({ description: 'repeat until ctrl-c' }),
  interval: Duration.optional().meta({ description: 'interval of --watch (default: 2s)', value: 'duration' }),
}

/** Interval in milliseconds; undefined without `--watch`. */
export function intervalOf(command: Command, options: Readonly<Record<string, unknown>>): number | undefined {
  // A command may have a `--watch` flag of its own, with another meaning.
  if (command.options.shape.watch !== watchOptions.watch || options.watch !== true) return undefined
  return typeof options.interval === 'number' ? Math.max(options.interval, INTERVAL_MS_MIN) : INTERVAL_MS
}
