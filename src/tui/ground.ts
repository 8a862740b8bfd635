import type { ThemeName } from './parts/palettes.ts'

/** Longest wait for the terminal to report its background color. */
const ANSWER_MS = 100
const QUESTION = '\u001B]11;?\u0007'
/** The terminal's report: two or four hex digits per color channel. */
const ANSWER = new RegExp(
  String.raw`\u001B?\]11;rgb:${Array(3).fill('([0-9a-f]{2})[0-9a-f]{0,2}').join('/')}(?:\u0007|\u001B\\)?`,
  'i',
)
const HEX = 16
/** Luminance weights, per 1,000. */
const SHARES = [299, 587, 114] as const
const HALF_BRIGHT = 127_500

type Terminal = { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream }

/** Asks the terminal for its background. Typed keys stay in stdin. @returns undefined without an answer */
export async function askGround({ stdin, stdout }: Terminal): Promise<ThemeName | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let heard = ''
  // Uses the event `readable`, as Ink does. After `data` events, the stream would stay paused and give Ink nothing.
  const hear = () => {
    heard += String(stdin.read() ?? '')
    if (ANSWER.test(heard)) resolve()
  }
  const wasRaw = stdin.isRaw
  stdin.setRawMode(true)
  stdin.on('readable', hear)
  stdout.write(QUESTION)
  const timer = setTimeout(resolve, ANSWER_MS)
  await promise
  clearTimeout(timer)
  stdin.off('readable', hear)
  stdin.setRawMode(wasRaw)
  const typed = heard.replace(ANSWER, '')
  if (typed !== '') stdin.unshift(Buffer.from(typed))
  return groundIn(heard)
}

/** Theme that suits the background color in a terminal's reply. Undefined if the text contains no such reply. */
export function groundIn(text: string): ThemeName | undefined {
  const found = ANSWER.exec(text)
  if (found === null) return undefined
  const bright = SHARES.reduce((sum, share, i) => sum + share * Number.parseInt(found[i + 1] ?? '0', HEX), 0)
  return bright > HALF_BRIGHT ? 'light' : 'dark'
}

/** Removes a terminal's late color reply from typed text, so that the reply does not count as keys. */
export function withoutAnswer(typed: string): string {
  return typed.replace(ANSWER, '')
}
