/** Calls back now and then until the returned function is called; the callback never throws. */
export type Ticker = (tick: () => void) => () => void

/** A tick each second of the machine, unless told. */
const TICK_MS = 1_000

/** Ticks of the machine; they keep no process alive. */
export function tickerOf(everyMs = TICK_MS): Ticker {
  return (tick) => {
    const timer = setInterval(tick, everyMs)
    timer.unref()
    return () => clearInterval(timer)
  }
}

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

/** How far business time was moved ahead of the clock below it, and where it stands still if it does. */
export type ClockSetting = { readonly offset_ms: number; readonly frozen_at: number | null }

export const UNMOVED: ClockSetting = { offset_ms: 0, frozen_at: null }

/** A clock whose business time can be set; who moves it makes the setting durable first. */
export type MovableClock = Clock & {
  setting(): ClockSetting
  apply(setting: ClockSetting): void
  /** The setting under which business time is `at` at this moment: standing still there, or going on from there. */
  settingAt(at: number, state: 'frozen' | 'running'): ClockSetting
}

/** @param below - the machine's clock, or a test's. */
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
