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
