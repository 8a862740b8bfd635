import type { Env } from '../client/paths.ts'

/** What a terminal can draw a picture by: the protocol of kitty, that of iTerm2, or sixels of DEC terminals. */
const protocols = ['kitty', 'iterm', 'sixel'] as const
type Protocol = (typeof protocols)[number]

/** Larger ones are saved, not shown. */
const MAX_SHOWN_BYTES = 4 * 1024 * 1024
const KITTY_CHUNK_CHARS = 4_096
const PNG = '\x89PNG'
const JPEG = '\xff\xd8\xff'
const byProgram: Readonly<Record<string, Protocol>> = {
  'iTerm.app': 'iterm',
  WezTerm: 'iterm',
  ghostty: 'kitty',
  contour: 'sixel',
}
/** Terminals that draw sixels and are known by their name; of others whoever uses them says it by SOUK_PICTURES. */
const SIXEL_TERM = /^(foot|mlterm|yaft|contour)\b|sixel/

/** By what was chosen, or what the terminal says of itself; behind a multiplexer nobody knows who draws. */
function protocolOf(env: Env): Protocol | undefined {
  const chosen = env['SOUK_PICTURES']
  if (chosen) return protocols.find((protocol) => protocol === chosen)
  if (env['TMUX'] || env['STY'] || env['ZELLIJ']) return undefined
  if (env['KITTY_WINDOW_ID'] || env.TERM === 'xterm-kitty') return 'kitty'
  return byProgram[env['TERM_PROGRAM'] ?? ''] ?? (SIXEL_TERM.test(env.TERM ?? '') ? 'sixel' : undefined)
}

/**
 * A picture as the text that makes a terminal draw it; undefined where it cannot, or where the bytes are none. Nothing
 * of the picture goes out as it is, so that no byte of it is taken for a command.
 * @param columns of the terminal
 */
export async function drawnPicture(env: Env, data: Uint8Array, columns: number): Promise<string | undefined> {
  const protocol = protocolOf(env)
  const start = Buffer.from(data.subarray(0, PNG.length)).toString('latin1')
  if (protocol === undefined || data.byteLength > MAX_SHOWN_BYTES) return undefined
  if (start.startsWith(JPEG)) return protocol === 'iterm' ? iterm(data) : undefined
  if (!start.startsWith(PNG)) return undefined
  if (protocol === 'sixel') return (await import('./sixel.ts')).sixelOfPng(data, columns)
  return protocol === 'kitty' ? kitty(data) : iterm(data)
}

function kitty(data: Uint8Array): string {
  const text = Buffer.from(data).toString('base64')
  const chunks = text.match(new RegExp(`.{1,${KITTY_CHUNK_CHARS}}`, 'g')) ?? []
  const marked = chunks.map((chunk, at) => {
    const first = at === 0 ? 'f=100,a=T,' : ''
    return `\x1b_G${first}m=${at === chunks.length - 1 ? 0 : 1};${chunk}\x1b\\`
  })
  return marked.join('')
}

function iterm(data: Uint8Array): string {
  return `\x1b]1337;File=inline=1;size=${data.byteLength}:${Buffer.from(data).toString('base64')}\x07`
}
