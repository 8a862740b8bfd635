import { usage } from '../exit.ts'

/** `price=0.50 tags=["a"]`: JSON where it reads as JSON, else text. */
export function readSettings(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw usage(`"${pair}" must be like price=0.50.`)
      return [pair.slice(0, at), value(pair.slice(at + 1))]
    }),
  )
}

function value(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the text itself is meant.
    return text
  }
}
