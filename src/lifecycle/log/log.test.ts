import { readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { printable } from '../../text/text.ts'
import { logFile, olderLogFile, openBoundedLog } from './bounded-log.ts'
import { readRecord, recordLine } from './log-record.ts'
import { followLines, loggedLines } from './log-tail.ts'

let state: string
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'souk-log-'))
})
afterEach(() => rm(state, { recursive: true }))

const write = (log: Writable, text: string) => new Promise<void>((resolve) => log.write(text, () => resolve()))
const close = (log: Writable) => new Promise<void>((resolve) => log.end(resolve))

describe('the log file', () => {
  it('stays within twice its bound and loses nothing of the last bound', async () => {
    const log = openBoundedLog(state, 100)
    for (let i = 0; i < 50; i += 1) await write(log, `${String(i).padStart(9)}\n`)
    await close(log)
    expect(statSync(logFile(state)).size + statSync(olderLogFile(state)).size).toBeLessThanOrEqual(200)
    const lines = loggedLines(state).map(Number)
    expect(lines).toEqual(Array.from({ length: lines.length }, (_, i) => 50 - lines.length + i))
    expect(lines.length).toBeGreaterThanOrEqual(10)
    expect((statSync(logFile(state)).mode & 0o777).toString(8)).toBe('600')
  })

  it('goes on where the last run ended', async () => {
    for (const text of ['one\n', 'two\n']) {
      const log = openBoundedLog(state)
      await write(log, text)
      await close(log)
    }
    expect(readFileSync(logFile(state), 'utf8')).toBe('one\ntwo\n')
  })
})

describe('following', () => {
  it('shows new lines only, whole ones, across a rotation', async () => {
    const log = openBoundedLog(state, 30)
    await write(log, 'old\n')
    const stop = new AbortController()
    const system = { sleep: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) }
    const seen: string[] = []
    const following = (async () => {
      for await (const line of followLines(state, system, stop.signal)) {
        seen.push(line)
        if (seen.length === 12) stop.abort()
      }
    })()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await write(log, 'ha')
    await write(log, 'lf\n')
    for (let i = 1; i < 12; i += 1) {
      await write(log, `line ${i}\n`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await following
    await close(log)
    expect(seen).toEqual(['half', ...Array.from({ length: 11 }, (_, i) => `line ${i + 1}`)])
  })

  it('waits for a log that is not there yet', async () => {
    const stop = new AbortController()
    const system = { sleep: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) }
    const first = followLines(state, system, stop.signal).next()
    const log = openBoundedLog(state)
    await write(log, 'hello\n')
    expect(await first).toEqual({ done: false, value: 'hello' })
    stop.abort()
    await close(log)
  })
})

describe('a record', () => {
  it('is one line for people, its controls replaced where it is printed', () => {
    const line = JSON.stringify({
      time: '2026-11-21T14:03:07.000Z',
      level: 'warn',
      source: 'x402',
      msg: 'refused \u001B[2J by\npayer',
      status: 402,
    })
    expect(printable(recordLine(readRecord(line)))).toBe(
      '2026-11-21T14:03:07.000Z warn  x402     refused \uFFFD[2J by payer status=402',
    )
  })

  it.each([1e300, 'yesterday', null, {}])('a time that is none (%j) is told as null', (time) => {
    const { atMs, fields } = readRecord(JSON.stringify({ time, level: 'warn', source: 'cron', msg: 'late' }))
    expect([atMs, fields.time]).toEqual([Number.NaN, null])
  })

  it('cannot pass for a request that an instance remembers', () => {
    const { fields } = readRecord(JSON.stringify({ level: 'warn', source: 'http', msg: 'x', remembered: 'whole' }))
    expect('remembered' in fields).toBe(false)
  })

  it.each(['', 'Error: boom', '[1]', 'null'])('%j that is none is shown as it is', (line) => {
    expect(readRecord(line).fields).toEqual({ time: null, level: 'info', source: 'process', msg: line })
  })
})
