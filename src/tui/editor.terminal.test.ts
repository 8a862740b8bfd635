import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, tmuxVersion } from './tmux.testkit.ts'

// @slow a cockpit in a real terminal

/* `e` on one's own listing: an editor has the terminal, what it saved is asked about, and the cockpit has it again. */

const exec = promisify(execFile)

/** Does what the file `mode` says, and notes the modes of the terminal that it was given. */
const EDITOR = `#!/bin/sh
stty -a > "$HOME/stty"
case "$(cat "$HOME/mode")" in
  change) sed -i 's/^pri[cs]e:.*/price: 0.75/' "$1" ;;
  empty) : > "$1" ;;
  wait) while [ -f "$HOME/mode" ]; do sleep 0.05; done ;;
  break) sed -i 's/^price:.*/prise: 0.75/' "$1" ;;
esac
`

it.skipIf((await tmuxVersion()) === undefined)('e edits a listing, and gives the terminal back', async () => {
  const home = await mkdtemp(join(tmpdir(), 'souk-editor-'))
  const editor = join(home, 'editor.sh')
  const env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true', VISUAL: editor }
  const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
  const price = async () => JSON.parse(await souk('services', 'list', '--search', 'Proofreading', '--json')).services[0]
  const mode = (name: string) => writeFile(join(home, 'mode'), name)
  await writeFile(editor, EDITOR)
  await chmod(editor, 0o755)
  const terminal = await openTerminal({ columns: 100, rows: 30, folder: home, env })
  try {
    await souk('up', '--port', '0', '--seed', 'house')
    await souk('wallet', 'new', 'seller')
    await souk('wallet', 'fund', 'seller')
    await souk('--as', 'seller', 'account', 'register', '--role', 'provider', '--name', 'seller')
    const fields = ['name=Proofreading', 'description=A person reads it', 'price=0.50', 'fulfillment_type=human']
    await souk('--as', 'seller', 'services', 'create', ...fields.flatMap((field) => ['--set', field]))
    await terminal.line('echo before the cockpit')
    await terminal.line(`${process.execPath} ${PROGRAM} tui services --mouse --as seller; echo "ended $?"`)
    await terminal.type('/Proofreading')
    await terminal.see(/1 of 1/)
    await terminal.press('Enter')
    await terminal.see(/e edit/)

    await mode('same')
    await terminal.type('e')
    await terminal.see('Nothing was changed.')
    expect(await readFile(join(home, 'stty'), 'utf8')).toMatch(/ icanon /)
    expect(await terminal.modes()).toEqual({ alternate: true, cursor: false })
    expect(await terminal.mouse()).toContain('sgr')
    await mode('wait')
    await terminal.type('e')
    await expect.poll(terminal.mouse).toBe('')
    await rm(join(home, 'mode'))
    await terminal.see('Nothing was changed.')
    await expect.poll(terminal.mouse).toContain('sgr')
    await mode('empty')
    await terminal.type('e')
    await terminal.see('The draft is empty')
    expect((await price()).price.fixed).toBe('$0.50')

    await mode('break')
    await terminal.type('e')
    await terminal.see(/prise[\s\S]*Open it again\?/)
    await mode('change')
    await terminal.type('y')
    await terminal.press('Enter')
    await terminal.see(/CHANGE A LISTING[\s\S]*price +0\.50 → 0\.75/)
    await terminal.see(/same as {2}souk services edit svc_[0-9a-f]{16} --set price=0.75/)
    expect((await price()).price.fixed).toBe('$0.50')
    await terminal.type('y')
    await terminal.see('Proofreading is changed.')
    expect((await price()).price.fixed).toBe('$0.75')

    await terminal.type('q')
    const shown = await terminal.see('ended 0')
    expect(shown.join('\n')).toContain('before the cockpit')
    expect(await terminal.modes()).toEqual({ alternate: false, cursor: true })
  } finally {
    await terminal.close()
    await souk('down', '--force')
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
})
