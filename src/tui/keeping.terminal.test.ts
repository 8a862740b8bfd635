import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, tmuxVersion } from './tmux.testkit.ts'

// @slow a cockpit in a real terminal

/* Rows go to files and programs, and nothing of a program outlives the cockpit. */

const exec = promisify(execFile)

it.skipIf((await tmuxVersion()) === undefined)('keeps rows, and runs programs that end with it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'souk-keeping-'))
  const config = join(home, '.config', 'souk')
  const env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true', SOUK_PASSPHRASE: 'secret' }
  const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
  const cockpit = `${process.execPath} ${PROGRAM} tui services`
  await mkdir(join(config, 'skins'), { recursive: true })
  await writeFile(join(home, 'show.sh'), '#!/bin/sh\nprintf "[%s]" "$@"; env | grep -c PASSPHRASE\n')
  await chmod(join(home, 'show.sh'), 0o755)
  const runbook = { key: 'ctrl-t', title: 'show it', command: [join(home, 'show.sh'), '{id}', '{name}'] }
  await writeFile(join(config, 'keys.json'), JSON.stringify({ show: runbook }))
  await writeFile(join(config, 'skins', 'dim.json'), '{ "base": "dark", "good": "#333333" }')
  const terminal = await openTerminal({ columns: 110, rows: 30, folder: home, env })
  try {
    await souk('up', '--port', '0', '--seed', 'house')
    await terminal.line(`cd ${home}; ${cockpit} --theme dim; echo "ended $?"`)
    await terminal.see(/skins\/dim.json: good #333333 on a terminal of #000000 has contrast 1\.\d; it needs 4\.5/)
    await terminal.press('Escape')
    await terminal.see(/BUYER PAYS/)

    await terminal.press('C-s')
    await terminal.type('all.csv')
    await terminal.press('Enter')
    await terminal.see(/✓ saved .*all.csv {2}\d+ rows/)
    const csv = await readFile(join(home, 'all.csv'), 'utf8')
    expect(csv.split('\n')[0]).toMatch(/^"name","provider",/)
    await terminal.type(':! grep -c svc_; env | grep -c PASSPHRASE')
    await terminal.press('Enter')
    await terminal.see(new RegExp(`│.\\D+${csv.trimEnd().split('\n').length - 1} [\\s\\S]* 0 `))
    await terminal.press('Escape')
    await terminal.press('C-t')
    await terminal.see(/\$ \S+show.sh svc_[0-9a-f]{16} /)
    await terminal.type('y')
    await terminal.see(/│.*\[svc_[0-9a-f]{16}\]\[.+\]0/)
    await terminal.press('Escape')

    await terminal.press('C-z')
    await terminal.see('Stopped')
    await terminal.line('fg')
    await terminal.see('BUYER PAYS')

    await terminal.type(':! echo $$ > pid; sleep 600')
    await terminal.press('Enter')
    await expect.poll(async () => (await readdir(home)).includes('pid')).toBe(true)
    await terminal.press('C-c')
    await terminal.see('ended by ctrl-c')
    await terminal.press('Escape')
    await terminal.type(':! echo $$ > pid2; sleep 600')
    await terminal.press('Enter')
    await expect.poll(async () => (await readdir(home)).includes('pid2')).toBe(true)
    await terminal.type('q')
    await terminal.see(/shell>\s*$/)

    await terminal.line(`clear; sh -c 'echo $$ > souk-pid; exec ${cockpit}'`)
    await terminal.see('BUYER PAYS')
    await terminal.type(':! echo $$ > pid3; sleep 600')
    await terminal.press('Enter')
    await expect.poll(async () => (await readdir(home)).includes('pid3')).toBe(true)
    process.kill(Number(await readFile(join(home, 'souk-pid'), 'utf8')), 'SIGTERM')
    await terminal.see(/shell>\s*$/)
    for (const file of ['pid', 'pid2', 'pid3']) {
      const pid = Number(await readFile(join(home, file), 'utf8'))
      expect(pid).toBeGreaterThan(0)
      await expect
        .poll(async () => (await exec('ps', ['-o', 'pid=', '-g', String(pid)]).catch(() => ({ stdout: '' }))).stdout)
        .toBe('')
    }
    expect(await terminal.modes()).toEqual({ alternate: false, cursor: true })
  } finally {
    await terminal.close()
    await souk('down', '--force')
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
})
