import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, tmuxVersion } from './tmux.testkit.ts'

// @slow a terminal with several instances

/* One terminal, two marketplaces: from the one to the other and back, and out. */

const exec = promisify(execFile)

it.skipIf((await tmuxVersion()) === undefined)('@ leads to another marketplace and back', async () => {
  const home = await mkdtemp(join(tmpdir(), 'souk-two-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true' }
  const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
  const terminal = await openTerminal({ columns: 100, rows: 30, folder: home, env })
  try {
    for (const instance of ['default', 'second']) await souk('up', '--port', '0', '--instance', instance)
    const { url } = JSON.parse(await souk('status', '--instance', 'second', '--json'))
    await souk('remote', 'add', 'second', url)
    await terminal.line(`${process.execPath} ${PROGRAM} tui crons --readonly; echo "ended $?"`)
    await terminal.see(/souk +local/)
    await terminal.type('@')
    await terminal.see('@second')
    await terminal.type('sec')
    await terminal.press('Enter')
    await terminal.see(/souk +second/)
    await terminal.type('@')
    const shown = await terminal.see('@local')
    expect(shown.join('\n')).not.toContain('@second')
    await terminal.press('Enter')
    await terminal.see(/souk +local/)
    await terminal.see('read-only')
    await terminal.type('@local:')
    await terminal.see('@local:second')
    await terminal.press('Enter')
    await terminal.see(/souk +local:second/)
    await terminal.type('q')
    await terminal.see('ended 0')
    for (const [words, offers] of [
      ['-r second tui', false],
      ['-r second tui --write', true],
    ] as const) {
      await terminal.line(`clear; ${process.execPath} ${PROGRAM} ${words}; echo "ended $?"`)
      await terminal.see(/souk +second · remote/)
      const shown = (await terminal.see('q quit')).join('\n')
      expect([shown.includes('· read-only'), shown.includes('P pause payments')]).toEqual([!offers, offers])
      await terminal.type('q')
      await terminal.see('ended 0')
    }
  } finally {
    await terminal.close()
    for (const instance of ['default', 'second']) await souk('down', '--force', '--instance', instance)
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
})
