import { expect, test } from 'vitest'
import { gate } from '../../fixtures/kit/faults.ts'
import { AppError } from '../../src/core/error.ts'
import { keyedMutex } from './keyed-mutex.ts'

test('work on one thing goes one at a time in the order of the calls, a failure included; other things go on', async () => {
  const mutex = keyedMutex()
  const door = gate()
  const done: string[] = []
  const note = (text: string) => async () => {
    done.push(text)
    return text
  }
  const first = mutex.run('a', async () => {
    await door.wait()
    done.push('first')
  })
  const failing = mutex.run('a', async () => {
    done.push('failing')
    throw new Error('no')
  })
  const last = mutex.run('a', note('last'))
  expect(await mutex.run('b', note('other'))).toBe('other')
  expect(done).toEqual(['other'])
  door.open()
  await expect(failing).rejects.toThrow('no')
  expect([await first, await last]).toEqual([undefined, 'last'])
  expect(done).toEqual(['other', 'first', 'failing', 'last'])
})

test('too many that wait are refused, and room comes again', async () => {
  const mutex = keyedMutex()
  const door = gate()
  const calls = Array.from({ length: 300 }, () => mutex.run('a', door.wait))
  const refused = calls.map((call) =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    ),
  )
  await expect(calls.at(-1)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 })
  door.open()
  const errors = (await Promise.all(refused)).filter((error) => error !== undefined)
  expect([errors.length, errors.every((error) => error instanceof AppError)]).toEqual([300 - 256, true])
  expect(await mutex.run('a', async () => 'room')).toBe('room')
})
