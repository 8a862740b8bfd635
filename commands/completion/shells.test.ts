import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, type Terminal, tmuxVersion } from '../../src/tui/tmux.testkit.ts'

// @slow three shells complete every command

/*
 * The built program under the Tab key of real shells, in a real terminal. A shell that is not there is left out by
 * name; with SOUK_REQUIRE_TOOLS=1 only PowerShell may be missing.
 */

const exec = promisify(execFile)
const isRequired = process.env.SOUK_REQUIRE_TOOLS === '1'
/** A member of an input as a hostile seller may call it. */
const HOSTILE = '$(touch pwned)'

/** How each shell is started, and what it reads. */
const shells = {
  bash: ['bash --norc --noprofile', 'source <(souk completion bash)'],
  zsh: ['zsh -f', 'source <(souk completion zsh)'],
  fish: ['fish --no-config', 'souk completion fish | source'],
} as const
const there = await Promise.all([tmuxVersion(), ...Object.keys(shells).map(versionOf)])
const [tmux, ...versions] = there

async function versionOf(shell: string): Promise<string | undefined> {
  return exec(shell, ['--version']).then(
    ({ stdout }) => stdout,
    () => undefined,
  )
}

let home: string
let env: Record<string, string>
let terminal: Terminal | undefined
let listing: string
let job: string

const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
const json = async (...words: string[]) => JSON.parse(await souk(...words, '--json'))

beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-shells-'))
  mkdirSync(join(home, 'bin'))
  const program = join(home, 'bin', 'souk')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  chmodSync(program, 0o755)
  const path = [join(home, 'bin'), process.env.PATH ?? ''].join(delimiter)
  env = { HOME: home, PATH: path, TMPDIR: home, CI: 'true', SOUK_TIMEOUT: '30s' }
  await souk('up', '--port', '0', '--seed', 'house')
  await souk('wallet', 'new', 'main')
  await souk('wallet', 'fund')
  await souk('account', 'register', '--role', 'both')
  const input_schema = { type: 'object', properties: { [HOSTILE]: { type: 'string' } } }
  writeFileSync(
    join(home, 'hostile.json'),
    JSON.stringify({ name: '`id`', description: 'x', price: '0.10', fulfillment_type: 'human', input_schema }),
  )
  listing = (await json('services', 'create', '--file', join(home, 'hostile.json'))).id
  job = (await json('buy', 'qr_code', '-i', 'data=hello')).job_id
})

afterAll(async () => {
  await souk('down', '--force')
  await rm(home, { recursive: true, force: true })
})

test('the shells are there where they are required', () => {
  if (isRequired) expect(there.every((version) => version !== undefined)).toBe(true)
})

/** A shell that has read its script, and is ready. */
async function open([start, script]: readonly [string, string]): Promise<Terminal> {
  terminal = await openTerminal({ columns: 120, rows: 40, folder: home, env })
  await terminal.line(`cd ${home}; exec ${start}`)
  await terminal.line(
    `${script}; echo ready-$((40 + 2))`.replace(
      '$((40 + 2))',
      start.startsWith('fish') ? '(math 40 + 2)' : '$((40 + 2))',
    ),
  )
  await terminal.see('ready-42')
  return terminal
}

describe.each(Object.entries(shells).map(([name, how], at) => [name, how, versions[at]] as const))(
  'Tab in %s',
  (_, how, version) => {
    test.skipIf(tmux === undefined || version === undefined)(
      'ends words, ids and names of inputs, and runs nothing that a stranger wrote',
      async () => {
        const at = await open(how)
        try {
          await at.type('souk config get max')
          await at.press('Tab')
          await at.see('max-price')
          await at.type(' --json -q .origin')
          await at.press('Enter')
          await at.see(/^default/m)
          await at.type('souk remote list --fields netw')
          await at.press('Tab')
          await at.see('--fields network')
          await at.press('Enter')
          await at.see('"network"')
          await at.type('souk remote list -q .tot')
          await at.press('Tab')
          await at.see('-q .total')
          await at.press('Enter')
          await at.see(/^1$/m)
          await at.type('souk jobs view job_')
          await at.press('Tab')
          await at.see(job)
          await at.type(' --json -q .status')
          await at.press('Enter')
          await at.see('completed')
          await at.type(`souk buy ${listing} --quote -i `)
          await at.press('Tab')
          await at.see('touch')
          await at.press('Enter')
          await at.see('402')
          expect(existsSync(join(home, 'pwned'))).toBe(false)
          await at.type('souk services view -r nowhere svc_')
          await at.press('Tab')
          await at.type('; echo after-$HOME')
          await at.press('Enter')
          const screen = await at.see(`after-${home}`)
          expect(screen.join('\n')).not.toContain('__complete')
        } finally {
          await at.close()
        }
      },
    )
  },
)

const pwsh = await versionOf('pwsh')

const powerShell = pwsh === undefined ? () => undefined : test

powerShell('PowerShell offers what souk says', async () => {
  const asked =
    "souk completion powershell | Out-String | Invoke-Expression; (TabExpansion2 'souk endpoints list --status d' 30).CompletionMatches.CompletionText"
  const { stdout } = await exec('pwsh', ['-NoProfile', '-Command', asked], { env })
  expect(stdout.trim()).toBe('deferred')
})
