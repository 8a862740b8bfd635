import type { ThemeName } from './parts/palettes.ts'

/** A terminal that has not answered by then is not asked any longer: nobody waits for colors. */
const ANSWER_MS = 100
const QUESTION = '\u001B]11;?\u0007'
/** Red, green and blue of the ground, two or four hex digits each. */
const ANSWER = new RegExp(
  String.raw`\u001B?\]11;rgb:${Array(3).fill('([0-9a-f]{2})[0-9a-f]{0,2}').join('/')}(?:\u0007|\u001B\\)?`,
  'i',
)
const HEX = 16
/** Shares of red, green and blue in what looks bright, of 1,000. */
const SHARES = [299, 587, 114] as const
const HALF_BRIGHT = 127_500

type Terminal = { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream }

/**
 * Asks the terminal what its ground is. What was typed meanwhile is put back.
 * @returns undefined where it does not say.
 */
export async function askGround({ stdin, stdout }: Terminal): Promise<ThemeName | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let heard = ''
  // As Ink does it: a stream that once flowed, and was paused, gives its next reader nothing.
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

/** What an answer says; undefined for what is none. */
export function groundIn(text: string): ThemeName | undefined {
  const found = ANSWER.exec(text)
  if (found === null) return undefined
  const bright = SHARES.reduce((sum, share, i) => sum + share * Number.parseInt(found[i + 1] ?? '0', HEX), 0)
  return bright > HALF_BRIGHT ? 'light' : 'dark'
}

/** What came too late, and must not be taken for keys. */
export function withoutAnswer(typed: string): string {
  return typed.replace(ANSWER, '')
}
