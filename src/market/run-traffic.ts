import type { CommandContext } from '../cli/command.ts'
import { parseDuration } from '../cli/duration.ts'
import { CliError, usage } from '../cli/exit.ts'
import { TransportError } from '../client/transport.ts'
import { castAt, withFolder } from './stage.ts'
import { type TrafficItem, traffic } from './traffic.ts'

type Wanted = { readonly rate: number; readonly for?: string | undefined }

/** Has the people of the demo trade at the chosen instance, until ctrl-c or for a time. @throws CliError usage */
export async function* runTraffic(
  context: CommandContext<unknown, unknown>,
  wanted: Wanted,
): AsyncGenerator<TrafficItem> {
  const { io, system, signal } = context
  const forMs = wanted.for === undefined ? Number.POSITIVE_INFINITY : parseDuration(wanted.for)
  if (forMs === undefined) throw usage(`--for takes a time such as 90s or 10m; you gave "${wanted.for}".`)
  const opened = await castAt(context, await context.session())
  const until = io.now() + forMs
  const sleep = (ms: number) => system.sleep(ms, signal)
  io.say(`● ${wanted.rate} sales a minute   ctrl-c ends it`)
  const how = { perMinute: wanted.rate, now: io.now, sleep, signal, until }
  try {
    yield* withFolder((folder) => traffic(opened, { ...how, folder }))
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    throw new CliError('no_daemon', 'The instance does not answer any more.', { next: ['souk status'], cause: error })
  }
}
