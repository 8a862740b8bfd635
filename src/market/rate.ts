import type { Io } from '../cli/io.ts'
import { codec } from '../cli/params.ts'
import { dim, red } from '../text/text.ts'
import type { TrafficItem } from './traffic.ts'

/** Sales a minute that one process keeps up. */
const MAX_RATE = 600
const RATE = /^(\d{1,4})(?:\/min)?$/

/** Sales a minute, as `30/min` or `30`. */
export const Rate = codec(rateOf, `must be like 30/min, from 1 to ${MAX_RATE} a minute`)

function rateOf(text: string): number | undefined {
  const rate = Number(RATE.exec(text)?.[1] ?? 0)
  return rate > 0 && rate <= MAX_RATE ? rate : undefined
}

export function showTraffic({ at, who, did, error }: TrafficItem, io: Io): void {
  io.line(`${dim(at.slice(11, 19))} ${who.padEnd(10)} ${did}${error === null ? '' : `   ${red(error)}`}`)
}
