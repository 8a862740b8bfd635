import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bold, byteSize, clip, distance, jsonText, nearest, printable, span, widthOf } from '../text/text.ts'
import type { System } from './env.ts'
import { createIo, type IoSettings, plainSettings } from './io.ts'

function system(given: { tty?: boolean; stdin?: string; env?: Record<string, string> } = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const stdin = new PassThrough()
  if (given.stdin !== undefined) stdin.end(given.stdin)
  const tty = given.tty === true
  const sink = (parts: string[]) => ({
    isTTY: tty,
    columns: 80,
    write(chunk: string | Uint8Array, done?: () => void) {
      parts.push(String(chunk))
      done?.()
      return true
    },
  })
  const machine = { env: given.env ?? {}, stdin, stdinIsTty: tty, stdout: sink(out), stderr: sink(err), now: () => 0 }
  // Only what an Io takes from the machine.
  return { machine: machine as unknown as System, out, err, stdin }
}

const open = (given: Parameters<typeof system>[0] = {}, settings: Partial<IoSettings> = {}) => {
  const parts = system(given)
  return { ...parts, io: createIo(parts.machine, { ...plainSettings, ...settings }) }
}

describe('asking', () => {
  it('without a terminal is a usage error that names the flag, never a wait', async () => {
    await expect(open().io.confirm('Sure?')).rejects.toMatchObject({ exit: 'usage', next: ['… --yes'] })
    await expect(open().io.ask('Name?', { flag: '--name' })).rejects.toMatchObject({
      exit: 'usage',
      next: ['… --name'],
    })
    await expect(open({ tty: true }, { ask: false }).io.confirm('Sure?')).rejects.toMatchObject({ exit: 'usage' })
  })

  it('is answered by --yes', async () => {
    await expect(open({}, { yes: true }).io.confirm('Sure?')).resolves.toBeUndefined()
  })

  it.each([
    ['y\n', 'done'],
    ['YES\n', 'done'],
    ['n\n', 'cancelled'],
    ['\n', 'cancelled'],
    ['yess\n', 'cancelled'],
  ])('on a terminal takes %j', async (answer, outcome) => {
    const { io, err } = open({ tty: true, stdin: answer })
    const result = await io.confirm('Sure?').then(
      () => 'done',
      (error) => error.exit,
    )
    expect(result).toBe(outcome)
    expect(err.join('')).toContain('Sure? [y/N]')
  })

  it('shows nothing of a hidden answer', async () => {
    const { io, err } = open({ tty: true, stdin: 'secret words\n' })
    expect(await io.ask('Passphrase:', { hidden: true, flag: '--x' })).toBe('secret words')
    expect(err.join('')).not.toContain('secret')
  })

  it('reads all of stdin, but never waits for a terminal', async () => {
    expect(await open({ stdin: '{"a":1}' }).io.stdin()).toBe('{"a":1}')
    await expect(open({ tty: true }).io.stdin()).rejects.toMatchObject({ exit: 'usage' })
  })
})

describe('progress', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is a line each ten seconds without a terminal, and stops', () => {
    const { io, out, err } = open()
    const progress = io.progress('job_1')
    vi.advanceTimersByTime(9_000)
    expect(err).toEqual([])
    vi.advanceTimersByTime(2_000)
    progress.update('job_1: in_progress')
    vi.advanceTimersByTime(10_000)
    progress.stop()
    vi.advanceTimersByTime(60_000)
    expect(err).toEqual(['still waiting: job_1\n', 'still waiting: job_1: in_progress\n'])
    expect(out).toEqual([])
  })

  it('draws nothing on what only says that it is a terminal, and does not fail there', async () => {
    const { io, err } = open({ tty: true })
    const progress = io.progress('job_1')
    vi.advanceTimersByTime(60_000)
    await vi.dynamicImportSettled()
    progress.stop()
    expect(err).toEqual([])
  })

  it.each<[string, Parameters<typeof system>[0], Partial<IoSettings>]>([
    ['--quiet', {}, { quiet: true }],
    ['--json on a terminal', { tty: true }, { format: 'json' }],
  ])('is silent under %s', (_name, given, settings) => {
    const { io, err } = open(given, settings)
    io.progress('job_1')
    vi.advanceTimersByTime(60_000)
    expect(err).toEqual([])
  })
})

describe('text', () => {
  it('replaces what a terminal would act on, and keeps our own styles', () => {
    expect(printable(`a\u0007\u001B[2Jb\u202Ec\u009Bd\r\ne\tf${bold('g')}`)).toBe(
      'a\uFFFD\uFFFD[2Jb\uFFFDc\uFFFDd\ne\tfg',
    )
    expect(printable(bold('g'), 'default')).toBe('\u001B[1mg\u001B[0m')
  })

  it('escapes the same in JSON without changing the value', () => {
    const value = { text: 'a\u001B\u009B\u202E\u2028b', amount: 5n }
    const text = jsonText(value)
    expect(text).toMatch(/^[ -~]+$/)
    expect(JSON.parse(text)).toEqual({ text: value.text, amount: '5' })
  })

  it('measures and cuts by columns', () => {
    expect([widthOf('abc'), widthOf('日本'), widthOf('e\u0301'), widthOf('✓ ok')]).toEqual([3, 4, 1, 4])
    expect([clip('abcdef', 4), clip('日本語', 5), clip('abc', 3)]).toEqual(['abc…', '日本…', 'abc'])
  })

  it.each([
    [0, '0s'],
    [61_000, '1m 1s'],
    [7_200_000, '2h'],
    [7_800_000, '2h 10m'],
    [273_600_000, '3d 4h'],
  ])('%i ms is %s', (ms, text) => {
    expect(span(ms)).toBe(text)
  })

  it('suggests what is near and nothing else', () => {
    expect(distance('servces', 'services')).toBe(1)
    expect(distance('veiw', 'view')).toBe(1)
    expect(nearest('servces', ['jobs', 'services'])).toBe('services')
    expect(nearest('xyz', ['jobs', 'services'])).toBeUndefined()
    expect(byteSize(14_889_779)).toBe('14.2 MB')
  })
})

describe('a time', () => {
  const line = (given: { tty?: boolean }, settings: Partial<IoSettings>) => {
    const { io, out } = open(given, settings)
    io.line('at 1970-01-01T00:00:05.000Z')
    return out.join('').trim()
  }

  it('is short on a terminal, and whole in a pipe, in JSON and under --iso', () => {
    expect(line({ tty: true }, { times: 'utc' })).toBe('at 00:00:05Z')
    expect(line({ tty: true }, { times: 'iso' })).toBe('at 1970-01-01T00:00:05.000Z')
    expect(line({ tty: true }, { times: 'utc', format: 'json' })).toBe('at 1970-01-01T00:00:05.000Z')
    expect(line({}, { times: 'utc' })).toBe('at 1970-01-01T00:00:05.000Z')
  })
})
