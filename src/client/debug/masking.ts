import { isObject, isShallow, jsonIn } from '../../core/json.ts'
import { MAX_JSON_DEPTH } from '../../core/limits.ts'
import { endpoints } from '../endpoints.ts'
import { isSecretHeader } from '../transport.ts'

/** Stands where a credential stood. */
export const REDACTED = '‹redacted›'

const SECRET_NAME =
  /(^|[_-])(secret|token|signature|api_?key|private_?key|password|passphrase|authorization|cookie|mnemonic)$/i
/** Keys, tokens and signatures as instances and wallets make them, anywhere in a text, also as an address spells them. */
const SECRET_VALUES =
  /(sk|adm)_[0-9a-f]{40,}|jt_[0-9a-f]{64,}|0x[0-9a-f]{130,}|whsec_(?:[A-Za-z0-9+/_=-]|%2[bf]|%3d){16,}/gi

/** Paths of which a part is a credential: what they begin with. */
const secretPaths = Object.values(endpoints).flatMap(([, path]) => {
  const [start = ''] = path.split(':token')
  return path.includes('/:token') ? [start] : []
})
const SECRET_PATHS = new RegExp(`(${secretPaths.join('|')})[^\\s"?#/]+`, 'g')
const PARAMETER = /([?&]([^=&#\s"]+)=)[^&#\s"]*/g

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'))
}

/** How many credentials are remembered; a long run signs each payment anew, and nobody repeats those of an hour ago. */
const REMEMBERED_MAX = 256

export type Masker = {
  /** Remembers the credentials among headers that are sent: an answer may repeat them. */
  remember(headers: Readonly<Record<string, string>>): void
  header(name: string, value: string): string
  text(text: string): string
  /** @returns the JSON without credentials; undefined for what is none, or is nested too deep to be looked at */
  json(text: string): string | undefined
}

/** Takes credentials out of what is shown: by their names, by their shapes, and those that were sent wherever they are. */
export function createMasker(): Masker {
  const sent = new Set<string>()
  const remember: Masker['remember'] = (headers) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!isSecretHeader(name) && !isSecretName(name)) continue
      for (const one of formsOf(value)) sent.add(one)
    }
    for (const one of [...sent].slice(0, -REMEMBERED_MAX)) sent.delete(one)
  }
  const text: Masker['text'] = (given) =>
    [...sent]
      .sort((one, other) => other.length - one.length)
      .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), given)
      .replaceAll(SECRET_VALUES, REDACTED)
      .replaceAll(SECRET_PATHS, `$1${REDACTED}`)
      .replaceAll(PARAMETER, (all, start: string, name: string) => (isSecretName(name) ? `${start}${REDACTED}` : all))
  const masked = (value: unknown, name: string): unknown => {
    if (value !== null && typeof value !== 'boolean' && isSecretName(name)) return REDACTED
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map((member) => masked(member, ''))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key), masked(member, key)]))
  }
  return {
    remember,
    text,
    header: (name, value) => (isSecretHeader(name) || isSecretName(name) ? REDACTED : text(value)),
    json(given) {
      const found = jsonIn(given)
      if (found === undefined || !isShallow(found.value, MAX_JSON_DEPTH)) return undefined
      return text(JSON.stringify(masked(found.value, '')))
    },
  }
}

/** A credential as somebody may repeat it: as it was sent, without the word before it, and encoded. */
function formsOf(value: string): string[] {
  const plain = [value, value.split(' ').at(-1) ?? ''].filter((one) => one !== '')
  return plain.flatMap((one) => {
    const bytes = Buffer.from(one)
    return [one, encodeURIComponent(one), bytes.toString('base64'), bytes.toString('base64url')]
  })
}
