import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, tmuxVersion } from './tmux.testkit.ts'

// @slow a cockpit in a real terminal

/* The mouse in a real terminal, and that the terminal has it back at the shell. */

const exec = promisify(execFile)

it.skipIf((await tmuxVersion()) === undefined)(
  'the mouse is read while the cockpit is open, and no longer',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'souk-mouse-'))
    const env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true' }
    const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
    const terminal = await openTerminal({ columns: 100, rows: 30, folder: home, env })
    const off = async () => expect.poll(terminal.mouse).toBe('')
    const on = async () => expect.poll(terminal.mouse).toContain('sgr')
    const click = async (text: string | RegExp) => {
      const shown = await terminal.see(text)
      const row = shown.findIndex((line) => line.search(text) >= 0)
      await terminal.type(`\u001B[<0;${(shown[row] ?? '').search(text) + 2};${row + 1}M`)
    }
    try {
      await souk('up', '--port', '0')
      await off()
      await terminal.line(`${process.execPath} ${PROGRAM} tui --mouse; echo "ended $?"`)
      await terminal.see(/souk +local/)
      await on()
      await click('5 Crons')
      await terminal.see('STATE')
      await click(/auto-refund/)
      await terminal.see(/▌.*auto-refund/)
      await terminal.press('C-z')
      await terminal.see('Stopped')
      await off()
      await terminal.line('fg')
      await terminal.see(/▌.*auto-refund/)
      await on()
      await terminal.type('q')
      await terminal.miss('auto-refund')
      await terminal.see('ended 148')
      await off()
    } finally {
      await terminal.close()
      await souk('down', '--force')
      await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
    }
  },
)
