import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { defineService, MAX_DELIVERABLE_BYTES, type ServiceDefinition } from './service.ts'

type Read = NonNullable<ServiceDefinition<Json>['read']>

const running = new AbortController().signal
const service = (read: Read, timeoutMs?: number) =>
  defineService<Json>({
    slug: 'test',
    read,
    make: (_, made) => made,
    ...compact({ timeoutMs }),
  })
const never = (_: unknown, { signal }: { signal: AbortSignal }) =>
  new Promise<Json>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('gave up')))
  })

describe('a first-party service', () => {
  it('gives its input through and its result back', async () => {
    const made = await service((input) => ({ got: input['a'] ?? null })).run({ a: 1 }, running)
    expect(made).toEqual({ got: 1, engine: { name: 'souk', version: '1', kind: 'deterministic' } })
  })

  it.each<[string, Read, string]>([
    [
      'throws',
      () => {
        throw new Error('secret path')
      },
      'test failed.',
    ],
    ['rejects', () => Promise.reject(new TypeError('secret path')), 'test failed.'],
    [
      'throws an error of ours',
      () => {
        throw new AppError('unavailable', 'secret path')
      },
      'test failed.',
    ],
    ['has no JSON to show', () => undefined as unknown as Json, 'test failed.'], // what an untyped library may hand over
    [
      'makes too much',
      () => 'x'.repeat(MAX_DELIVERABLE_BYTES),
      'test returned 8388610 bytes; at most 8388608 are allowed.',
    ],
  ])('that %s is provider_failed and says nothing of its inside', async (_, run, message) => {
    await expect(service(run).run({}, running)).rejects.toMatchObject({ code: 'provider_failed', message })
  })

  it('keeps the cause for the log', async () => {
    const cause = new Error('disk')
    await expect(service(() => Promise.reject(cause)).run({}, running)).rejects.toMatchObject({ cause })
  })

  it('may refuse an input', async () => {
    const refusal = new AppError('input_invalid', 'size: too small')
    await expect(
      service(() => {
        throw refusal
      }).run({}, running),
    ).rejects.toBe(refusal)
  })

  it('is stopped when its time is up, even if it does not listen', async () => {
    await expect(service(never, 1).run({}, running)).rejects.toMatchObject({ message: 'test did not finish in time.' })
    await expect(service(() => Promise.withResolvers<Json>().promise, 1).run({}, running)).rejects.toMatchObject({
      code: 'provider_failed',
    })
  })

  it('is stopped when the buyer goes, and not begun when the buyer is gone', async () => {
    const buyer = new AbortController()
    const result = service(never).run({}, buyer.signal)
    buyer.abort()
    await expect(result).rejects.toMatchObject({ code: 'provider_failed', message: 'test was cancelled.' })
    let begun = false
    const late = service(() => (begun = true)).run({}, AbortSignal.abort())
    await expect(late).rejects.toMatchObject({ code: 'provider_failed' })
    expect(begun).toBe(false)
  })

  it('may make exactly the largest result', async () => {
    const largest = 'x'.repeat(MAX_DELIVERABLE_BYTES - 2)
    expect(await service(() => largest).run({}, running)).toBe(largest)
  })
})
