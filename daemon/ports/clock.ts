/**
 * Business time (deadlines, periods, schedules) can be moved in the sandbox; wall time
 * (payment windows, signatures, token lifetimes, rate limits) never is (decisions §12).
 */
export type Clock = {
  /** Epoch milliseconds of business time. */
  now(): number
  /** Epoch milliseconds of the machine. */
  wall(): number
}

export const systemClock: Clock = { now: () => Date.now(), wall: () => Date.now() }
