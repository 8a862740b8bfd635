import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { bold } from '../../text/text.ts'
import type { Io } from '../io.ts'
import type { Session } from '../session.ts'

type Clock = WireAnswer<Api['getClock']>
type ClockChange = WireAnswer<Api['moveClock']>
type Move = { readonly advance_ms?: number; readonly set?: string; readonly state?: 'running' | 'frozen' }

export function moveClock(session: Session, body: Move): Promise<ClockChange> {
  return session.call('moveClock', { body })
}

export function showClock(clock: Clock, io: Io): void {
  io.line(`${bold(clock.now)}   ${clock.state}   business time`)
  io.line(`${clock.wall}   wall time`)
  if (clock.next_cron !== null) io.line(`  next      ${clock.next_cron.name} at ${clock.next_cron.at}`)
}

export function showMove(change: ClockChange, io: Io): void {
  showClock(change, io)
  io.line(`  on the way ${change.jumps} stops, ${change.runs_total} runs of crons`)
}
