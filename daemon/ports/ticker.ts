/** Calls back now and then until the returned function is called; the callback never throws. */
export type Ticker = (tick: () => void) => () => void

/** A tick each second of the machine; it keeps no process alive. */
const TICK_MS = 1_000

export const systemTicker: Ticker = (tick) => {
  const timer = setInterval(tick, TICK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
