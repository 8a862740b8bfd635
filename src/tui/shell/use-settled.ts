import { useEffect, useState } from 'react'
import type { LinkClock } from '../../client/link.ts'

const SETTLED_AFTER_MS = 200

/** A value once it has stood still for a moment: what is typed or walked over asks for nothing. */
export function useSettled<T>(value: T, clock: LinkClock): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => clock.later(SETTLED_AFTER_MS, () => setSettled(() => value)), [clock, value])
  return settled
}
