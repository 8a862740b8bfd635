import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { groups } from '../../src/cli/run/groups.ts'
import { shells } from '../../src/cli/run/shell-scripts.ts'
import { entries } from '../index.ts'

/* What shells are told, and what real ones make of it. */

const ENTRY = join(import.meta.dirname, '..', '..', 'bin', 'souk.ts')
let home: string
const path = () => [join(home, 'bin'), process.env.PATH ?? ''].join(delimiter)

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-completion-'))
  mkdirSync(join(home, 'bin'))
  const program = join(home, 'bin', 'souk')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${ENTRY}' "$@"\n`)
  chmodSync(program, 0o755)
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
    ['endpoints list --status = d', ['deferred']],
    ['endpoints list --status =', ['live', 'paused', 'deferred']],
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

/** Runs a shell with our script read in; skips where there is none such. */
function inShell(shell: string, script: string): string[] | undefined {
  const env = { HOME: home, PATH: path(), TMPDIR: home, TERM: 'dumb' }
  try {
    execFileSync(shell, ['-c', 'true'], { env })
  } catch {
    return undefined
  }
  return execFileSync(shell, ['-c', script], { env, encoding: 'utf8' }).split('\n').filter(Boolean)
}

describe('a real shell', () => {
  test.each([
    [
      'bash',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are the shell's
      'source <(souk completion bash); COMP_WORDS=(souk endpoints list --status ""); COMP_CWORD=4; _souk; printf "%s\\n" "${COMPREPLY[@]}"',
    ],
    [
      'zsh',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are the shell's
      'source <(souk completion zsh); _describe() { print -l ${described%%:*} }; words=(souk endpoints list --status ""); CURRENT=5; _souk',
    ],
    ['fish', 'souk completion fish | source; complete -C "souk endpoints list --status " | cut -f1'],
  ])('%s offers what souk says', (shell, script) => {
    const words = inShell(shell, script)
    if (words) expect(words.sort()).toEqual(['deferred', 'live', 'paused'])
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

  test('says the line where the file is not known', async () => {
    const { code, err } = await souk('completion', 'powershell', '--install', '--yes')
    expect([code, err]).toEqual([2, expect.stringContaining('Invoke-Expression')])
  })
})
