import { endpoints } from './endpoints.ts'

type Door = { readonly method: string; readonly path: string; readonly status: string }

const pausing: ReadonlySet<string> = new Set(
  Object.values(endpoints).flatMap(([method, path, access]) => (access === 'paid' ? [`${method} ${path}`] : [])),
)

/** Endpoints that a pause closes: those that require payment. */
export function pausingDoors<D extends Door>(doors: readonly D[]): readonly D[] {
  return doors.filter(({ method, path }) => pausing.has(`${method} ${path}`))
}

/** Number of endpoints that a pause closes, as text: `31 endpoints`. */
export function closedByPause(doors: readonly Door[]): string {
  return doorCount(pausingDoors(doors).filter(({ status }) => status === 'live').length)
}

export function doorCount(count: number): string {
  return `${count} ${count === 1 ? 'endpoint' : 'endpoints'}`
}
