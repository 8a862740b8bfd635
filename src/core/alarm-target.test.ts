import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isQuietAt, readAlarmTarget, splitAlarmTargets } from './alarm-target.ts'

test.each([
  ['exec:/usr/local/bin/alarm --token abc', { kind: 'exec', shown: 'exec:/usr/local/bin/alarm' }],
  ['webhook:https://hooks.example.org/T/secret', { kind: 'webhook', shown: 'webhook:hooks.example.org' }],
  ['webhook:http://127.0.0.1:9000/hook', { kind: 'webhook', shown: 'webhook:127.0.0.1:9000' }],
  [
    'smtp://me:word@mail.example.org?to=ops@example.org',
    { kind: 'smtp', to: 'ops@example.org', from: 'ops@example.org' },
  ],
  ['smtps://mail.example.org?to=a@b.org&from=souk@b.org', { kind: 'smtp', from: 'souk@b.org', shown: 'smtp:a@b.org' }],
])('%s is a target, and its name has no secret', (text, target) => {
  const found = readAlarmTarget(text)
  expect(found).toMatchObject(target)
  expect(found?.shown).not.toMatch(/secret|word|abc/)
})

test.each(['', 'exec:', 'webhook:ftp://x', 'webhook:https://a:b@x', 'smtp://host', 'smtp:ops@example.org', 'mail'])(
  '"%s" is no target',
  (text) => expect(readAlarmTarget(text)).toBeUndefined(),
)

test('a list is split where a target begins, so that a command may have commas', () => {
  const targets = ['exec:notify a,b', 'webhook:https://x.example/?a=1,2', 'smtp://h?to=a@b,c@d']
  expect(splitAlarmTargets(targets.join(','))).toEqual(targets)
  expect(splitAlarmTargets(targets.join('\n'))).toEqual(targets)
})

test('every minute of a day is quiet, or lies between the end and the beginning', () => {
  const minute = fc.integer({ min: 0, max: 24 * 60 - 1 })
  const text = (of: number) => [of / 60, of % 60].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  fc.assert(
    fc.property(minute, minute, minute, (from, until, at) => {
      const hours = isQuietAt(`${text(from)}-${text(until)}`, new Date(2026, 0, 15, Math.floor(at / 60), at % 60))
      // So many minutes after the beginning, counted around the clock.
      const [since, length] = [at - from, until - from].map((span) => (span + 24 * 60) % (24 * 60))
      expect(hours).toBe((since ?? 0) < (length ?? 0))
    }),
  )
  expect(isQuietAt(undefined, new Date())).toBe(false)
})
