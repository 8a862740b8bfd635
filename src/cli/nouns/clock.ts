import type { WireAnswer } from '../../api/index.ts'
import { bold, didYouMean } from '../../text/text.ts'
import { CliError, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import type { Session } from '../session.ts'

type ClockChange = WireAnswer<'moveClock'>
export type ClockMove = { readonly advance_ms?: number; readonly set?: string; readonly state?: 'running' | 'frozen' }

/** Converts a typed time to the form of the API. @throws CliError `usage` */
export function timeOf(text: string): string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw usage(`"${text}" is not a time such as 2099-01-31T00:00:00Z.`)
  return new Date(at).toISOString()
}

/** A cron's state. @throws CliError `not_found` that lists the crons */
export async function cronNamed(session: Session, name: string) {
  const { crons } = await session.call('listCrons', {})
  const found = crons.find((cron) => cron.name === name)
  if (found !== undefined) return found
  const known = crons.map((cron) => cron.name)
  throw new CliError('not_found', `There is no cron "${name}"${didYouMean(name, known)}.`, {
    facts: [`crons: ${known.join(', ')}`],
    next: ['souk crons list'],
  })
}

export function moveClock(session: Session, body: ClockMove): Promise<ClockChange> {
  return session.call('moveClock', { body })
}

export function showClock(clock: WireAnswer<'getClock'>, io: Io): void {
  io.line(`${bold(clock.now)}   ${clock.state}   business time`)
  io.line(`${clock.wall}   wall time`)
  if (clock.next_cron !== null) io.line(`  next      ${clock.next_cron.name} at ${clock.next_cron.at}`)
}

export function showMove(change: ClockChange, io: Io): void {
  showClock(change, io)
  io.line(`  ran ${change.runs_total} scheduled jobs at ${change.jumps} points in time`)
}
