import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'

/* A real terminal: a tmux server of its own, driven and looked at as a person would. */

const POLL_MS = 40
/** Half a minute at least: a busy machine may take long for one screen. */
const POLLS_MAX = 750

const run = promisify(execFile)

/** Version of tmux, or undefined where there is none. */
export async function tmuxVersion(): Promise<string | undefined> {
  try {
    return (await run('tmux', ['-V'])).stdout.trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export type Terminal = {
  /** Types a line at the shell and sends it off. */
  readonly line: (text: string) => Promise<void>
  /** Types characters as they are. */
  readonly type: (text: string) => Promise<void>
  /** Presses a key by tmux's name for it: `Enter`, `Escape`, `C-c`. */
  readonly press: (...keys: string[]) => Promise<void>
  /** Pastes a text as terminals do: between marks, so that a program can tell it from keys. */
  readonly paste: (text: string) => Promise<void>
  /** The screen, a row for each line, blanks at the ends gone. */
  readonly rows: () => Promise<string[]>
  /** The screen with its colors as escape sequences. */
  readonly colored: () => Promise<string>
  readonly resize: (columns: number, rows: number) => Promise<void>
  /** Whether the alternate screen is on, and whether the cursor shows. */
  readonly modes: () => Promise<{ alternate: boolean; cursor: boolean }>
  /** Which mouse reports are on; empty if none. */
  readonly mouse: () => Promise<string>
  /** Waits for a text to be on the screen. */
  readonly see: (text: string | RegExp) => Promise<string[]>
  /** Waits for a text to be gone from it. */
  readonly miss: (text: string) => Promise<void>
  readonly close: () => Promise<void>
}

export type TerminalOptions = {
  readonly columns: number
  readonly rows: number
  /** Folder for its socket. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

let servers = 0

/** Opens a terminal with a bare shell in it. */
export async function openTerminal({ columns, rows, folder, env }: TerminalOptions): Promise<Terminal> {
  const all = { ...env, TMUX_TMPDIR: folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
  // A server that was told to end still holds its name for a while.
  const name = `souk-${servers++}`
  const tmux = async (...words: string[]) =>
    (await run('tmux', ['-u', '-L', name, '-f', '/dev/null', ...words], { env: all })).stdout
  const size = ['-x', String(columns), '-y', String(rows)]
  await tmux('new-session', '-d', ...size, 'exec bash --norc --noprofile', ';', 'set', '-g', 'status', 'off')
  await tmux('resize-window', ...size)
  const text = async () => (await tmux('capture-pane', '-p')).replace(/\n$/, '')
  const terminal: Terminal = {
    async line(words) {
      await tmux('send-keys', '-l', words)
      await tmux('send-keys', 'Enter')
    },
    type: async (words) => void (await tmux('send-keys', '-l', words)),
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    async paste(words) {
      await tmux('set-buffer', words)
      await tmux('paste-buffer', '-p', '-r')
    },
    rows: async () => (await text()).split('\n'),
    colored: () => tmux('capture-pane', '-p', '-e'),
    resize: async (toColumns, toRows) =>
      void (await tmux('resize-window', '-x', String(toColumns), '-y', String(toRows))),
    async modes() {
      const [alternate, cursor] = (await tmux('display', '-p', '#{alternate_on} #{cursor_flag}')).trim().split(' ')
      return { alternate: alternate === '1', cursor: cursor === '1' }
    },
    async mouse() {
      const flags = '#{?mouse_any_flag,any,} #{?mouse_standard_flag,standard,} #{?mouse_sgr_flag,sgr,}'
      return (await tmux('display', '-p', flags)).trim()
    },
    async see(wanted) {
      const isThere = (screen: string) => (typeof wanted === 'string' ? screen.includes(wanted) : wanted.test(screen))
      return (await until(text, isThere, `to show ${wanted}`)).split('\n')
    },
    miss: async (unwanted) => void (await until(text, (screen) => !screen.includes(unwanted), `to lose ${unwanted}`)),
    close: async () => void (await tmux('kill-server')),
  }
  await terminal.line("PS1='shell> '; clear")
  await terminal.see(/^shell>/)
  return terminal
}

/** A frame in one piece: for a moment a terminal shows one part of it and another of the next. */
export async function seeFrame(terminal: Terminal, sign: string | RegExp, height: number): Promise<void> {
  await terminal.see(sign)
  await expect
    .poll(async () => {
      const shown = await terminal.rows()
      const heads = shown.flatMap((row, at) => (row.startsWith(' souk  local') ? [at] : []))
      return [shown.length, heads, /q quit|esc /.test(shown.at(-1) ?? '')]
    })
    .toEqual([height, [0], true])
}

async function until(look: () => Promise<string>, done: (screen: string) => boolean, what: string): Promise<string> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const screen = await look()
    if (done(screen)) return screen
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`the terminal was expected ${what}:\n${await look()}`)
}
