import { expect, test } from 'vitest'
import { LOOK_MS, patienceWith, SILENCE_MS } from './join.ts'

/** A process that is looked at every half second; `cpu` is how much of it it gets. */
function watched({ cpu, isRunnable }: { readonly cpu: number; readonly isRunnable: boolean }) {
  let at = 0
  const patience = patienceWith(
    () => at,
    () => ({ cpuMs: at * cpu, isRunnable }),
  )
  return {
    progress: patience.progress,
    look: () => {
      at += LOOK_MS
      return patience.look()
    },
  }
}

const looks = SILENCE_MS / LOOK_MS
const held = (look: () => boolean, times: number) => Array.from({ length: times }, look).every(Boolean)

test('a process that is silent for a minute is given up, and each sign of progress begins the minute anew', () => {
  const { look, progress } = watched({ cpu: 0, isRunnable: false })
  expect(held(look, looks - 1)).toBe(true)
  progress()
  expect(held(look, looks - 1)).toBe(true)
  expect(look()).toBe(false)
})

test('a busy machine never ends a start: time without a processor is no silence', () => {
  expect(held(watched({ cpu: 0.01, isRunnable: true }).look, looks * 50)).toBe(true)
})

test('a process that computes for a minute and gets nowhere is given up', () => {
  expect(held(watched({ cpu: 1, isRunnable: true }).look, looks)).toBe(false)
})

test('a wait that the waiting process slept through counts as little of it', () => {
  let at = 0
  const patience = patienceWith(
    () => at,
    () => ({ cpuMs: 0, isRunnable: false }),
  )
  at = 10 * SILENCE_MS
  expect(patience.look()).toBe(true)
})
