/** Calls `tick` regularly until the returned function is called. `tick` must not throw. */
export type Ticker = (tick: () => void) => () => void

/** Default interval between two ticks, in machine time. */
const TICK_MS = 1_000

/** A ticker on the machine's clock, which does not keep the process alive. */
export function tickerOf(everyMs = TICK_MS): Ticker {
  return (tick) => {
    const timer = setInterval(tick, everyMs)
    timer.unref()
    return () => clearInterval(timer)
  }
}

/**
 * Business time (deadlines, periods, schedules) can be moved in a sandbox; wall time (payment windows, signatures,
 * tokens, rate limits) cannot (decisions §12).
 */
export type Clock = {
  /** Epoch milliseconds of business time. */
  now(): number
  /** Epoch milliseconds of the machine. */
  wall(): number
}

export const systemClock: Clock = { now: () => Date.now(), wall: () => Date.now() }

/** Offset of business time from the machine's clock. `frozen_at` is the fixed business time; null if it runs. */
export type ClockSetting = { readonly offset_ms: number; readonly frozen_at: number | null }

export const UNMOVED: ClockSetting = { offset_ms: 0, frozen_at: null }

/** A clock with settable business time; store the setting before applying it. */
export type MovableClock = Clock & {
  setting(): ClockSetting
  apply(setting: ClockSetting): void
  /** The clock setting that makes business time equal `at` now. */
  settingAt(at: number, state: 'frozen' | 'running'): ClockSetting
}

/** @param below - the machine's clock, or a test's */
export function movableClock(below: Clock, start: ClockSetting): MovableClock {
  let setting = start
  return {
    now: () => setting.frozen_at ?? below.now() + setting.offset_ms,
    wall: () => below.wall(),
    setting: () => setting,
    apply: (next) => {
      setting = next
    },
    settingAt: (at, state) => ({ offset_ms: at - below.now(), frozen_at: state === 'frozen' ? at : null }),
  }
}
