import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { groups } from '../../src/cli/run/groups.ts'
import { shells } from '../completion.ts'
import { entries } from '../index.ts'

/* What shells are told; what real ones make of it stands in shells.test.ts. */

let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-completion-'))
  for (const name of ['ann', 'bob']) await souk('wallet', 'new', name)
})
afterAll(() => rm(home, { recursive: true }))

const souk = (...words: string[]) =>
  runLine({ entries, groups }, words, { env: { HOME: home, TMPDIR: home, SOUK_NO_INPUT: '1' } })

/** Words that are offered for a line; a blank at its end begins a new word. */
async function offered(line: string): Promise<string[]> {
  const { code, out, err } = await souk('__complete', '--', ...line.split(' '))
  expect([code, err]).toEqual([0, ''])
  return out
    .split('\n')
    .filter(Boolean)
    .map((one) => one.split('\t')[0] ?? '')
}

describe('offered', () => {
  test.each<[string, string[]]>([
    ['end', ['endpoints']],
    ['endpoints ', ['list', 'view']],
    ['admin plat', ['platform']],
    ['admin platform ', ['pause', 'status', 'unpause']],
    ['endpoints list --sta', ['--status']],
    ['endpoints list --status ', ['live', 'paused', 'deferred']],
    ['endpoints list --status=d', ['--status=deferred']],
    ['services list --sort=n', ['--sort=newest']],
    ['trigger job.dispat', ['job.dispatched']],
    ['listen --events job.created,plan.c', ['job.created,plan.created']],
    ['config set pay ', ['auto', 'balance', 'x402', 'none']],
    ['endpoints view /openapi', ['/openapi.json']],
    ['api getCata', ['getCatalog']],
    ['services create --set pricing', ['pricing_model=']],
    ['help exit', ['exit-codes']],
    ['help admin platform pa', ['pause']],
    ['endpoints list --pay b', ['balance']],
    ['--pay x402 endpoints l', ['list']],
    ['stats event ', ['subject_view', 'expand_io', 'verify_signature']],
    ['stats event s', ['subject_view']],
    ['wallet use ', ['ann', 'bob']],
    ['services list --as b', ['bob']],
    ['services list -r ', ['local']],
    ['completion ', [...shells]],
    ['balance his', ['history']],
    ['balance --as a', ['ann']],
    ['services view ', []],
    ['config set max', ['max-price']],
    ['restore ', []],
    ['remote list --fields fing', ['fingerprint']],
    ['remote list --fields=name,fing', ['--fields=name,fingerprint']],
    ['clock advance --fields next_cron.', ['next_cron.name', 'next_cron.at']],
    ['jobs view --fields escrow.st', ['escrow.status']],
    ['remote list -q .', ['.total', '.remotes[]']],
    ['remote list --jq .remotes[].fing', ['.remotes[].fingerprint']],
    ['remote list --jq .remotes[]|.fing', []],
    ['services list -q .services[].agent_price.', ['.services[].agent_price.fixed']],
    ['clock show -q .next_cron.n', ['.next_cron.name']],
    ['remote list --fields no.such.', []],
    ['no such ', []],
  ])('for "%s": %j', async (line, words) => {
    expect((await offered(line)).sort()).toEqual([...words].sort())
  })

  test('is every command that is not hidden, by its words', async () => {
    const shown = entries.filter(({ hidden }) => !hidden).map(({ name }) => name)
    expect(await offered('')).toEqual([...new Set(shown.map((name) => name.split(' ')[0]))])
    for (const name of shown) expect(await offered(name)).toContain(name.split(' ').at(-1))
  })

  test('is each flag once, those of the command before those of all', async () => {
    const flags = await offered('services list -')
    expect(new Set(flags).size).toBe(flags.length)
    expect(flags.slice(0, 3)).toEqual(['--mine', '--search', '-s'])
    expect(flags).toEqual(expect.arrayContaining(['--json', '-q', '--help', '--max-price']))
  })
})

describe('--install', () => {
  test('adds one line to the start-up file, once, and only after a yes', async () => {
    const file = join(home, '.bashrc')
    writeFileSync(file, 'alias ll="ls -l"')
    expect((await souk('completion', 'bash', '--install')).code).toBe(2)
    expect((await souk('completion', 'bash', '--install', '--yes', '--dry-run')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('alias ll="ls -l"')
    for (const added of [true, false]) {
      const { out } = await souk('completion', 'bash', '--install', '--yes', '--json')
      expect(JSON.parse(out)).toMatchObject({ file, added })
    }
    expect(readFileSync(file, 'utf8')).toBe('alias ll="ls -l"\nsource <(souk completion bash)\n')
  })

  test('quotes for PowerShell what it would act on, whichever quotes somebody wrote', async () => {
    const { out } = await souk('completion', 'powershell')
    expect(out).toContain(String.raw`-match '[^\w./:+=-]'`)
    expect(out).toContain('EscapeSingleQuotedStringContent($value)')
  })

  test('says the line where the file is not known', async () => {
    const { code, err } = await souk('completion', 'powershell', '--install', '--yes')
    expect([code, err]).toEqual([2, expect.stringContaining('Invoke-Expression')])
  })
})
