import { isObject, isShallow, jsonIn } from '../../core/json.ts'
import { MAX_JSON_DEPTH } from '../../core/limits.ts'
import { endpoints } from '../endpoints.ts'
import { isSecretHeader, type Transport, type TransportRequest, type TransportResponse } from '../transport.ts'

const SHOWN_VALUE_CHARS_MAX = 200
const SHOWN_BODY_CHARS_MAX = 4_000
/** For a larger body, only the size is shown. */
const SHOWN_BODY_BYTES_MAX = 512 * 1024

export type DebugLog = {
  /** Called with each line: `>` sent, `<` received. */
  readonly line: (line: string) => void
  /** The headers that the transport adds to each request. */
  readonly headers: Readonly<Record<string, string>>
  readonly bodies: boolean
  /** Wall time, epoch milliseconds. */
  readonly now: () => number
}

/** A transport that logs requests and responses for `--debug`, without credentials. */
export function debugTransport(transport: Transport, to: DebugLog): Transport {
  const masker = createMasker()
  return async (request) => {
    logRequest(request, to, masker)
    const startedAt = to.now()
    const answer = await transport(request).catch((error: unknown) => {
      to.line(`< no answer: ${masker.text(error instanceof Error ? error.message : String(error))}`)
      throw error
    })
    to.line(`< ${answer.status} in ${to.now() - startedAt} ms`)
    logHeaders('<', answer.headers, { to, masker })
    return to.bodies ? onRead(answer, (text) => to.line(`< ${bodyOf(text, masker)}`)) : answer
  }
}

function logRequest(request: TransportRequest, to: DebugLog, masker: Masker): void {
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const headers: Record<string, string> = { ...to.headers, ...Object.fromEntries(given) }
  masker.remember(headers)
  to.line(`> ${request.method} ${masker.text(request.path)}`)
  logHeaders('>', headers, { to, masker })
  const { body } = request
  if (!to.bodies || body === undefined) return
  to.line(typeof body === 'string' ? `> ${bodyOf(body, masker)}` : '> a file')
}

type LogContext = { readonly to: DebugLog; readonly masker: Masker }

function logHeaders(sign: '>' | '<', headers: Readonly<Record<string, string>>, { to, masker }: LogContext): void {
  for (const [name, value] of Object.entries(headers)) {
    to.line(`${sign} ${masker.text(name)}: ${clipped(masker.header(name, value), SHOWN_VALUE_CHARS_MAX)}`)
  }
}

/** A body without credentials. If it is not JSON, only its size is shown. */
function bodyOf(text: string, masker: Masker): string {
  const bytes = Buffer.byteLength(text)
  const shown = bytes > SHOWN_BODY_BYTES_MAX ? undefined : masker.json(text)
  return shown === undefined ? `${bytes} bytes` : clipped(shown, SHOWN_BODY_CHARS_MAX)
}

function clipped(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

function onRead(answer: TransportResponse, report: (text: string) => void): TransportResponse {
  return {
    ...answer,
    async bytes() {
      const bytes = await answer.bytes()
      report(Buffer.from(bytes).toString('utf8'))
      return bytes
    },
    async text() {
      const text = await answer.text()
      report(text)
      return text
    },
  }
}

/** Replaces a credential in the log. */
export const REDACTED = '‹redacted›'

const SECRET_NAME =
  /(^|[_-])(secret|token|signature|api_?key|private_?key|password|passphrase|authorization|cookie|mnemonic)$/i
/** Matches credentials by their form, anywhere in a text, also URL-encoded. */
const SECRET_VALUES =
  /(sk|adm)_[0-9a-f]{40,}|jt_[0-9a-f]{64,}|0x[0-9a-f]{130,}|whsec_(?:[A-Za-z0-9+/_=-]|%2[bf]|%3d){16,}/gi

/** The part of a path before a credential. */
const secretPaths = Object.values(endpoints).flatMap(([, path]) => {
  const [start = ''] = path.split(':token')
  return path.includes('/:token') ? [start] : []
})
const SECRET_PATHS = new RegExp(`(${secretPaths.join('|')})[^\\s"?#/]+`, 'g')
const PARAMETER = /([?&]([^=&#\s"]+)=)[^&#\s"]*/g

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'))
}

/** Maximum number of credentials remembered; a long run signs many payments. */
const REMEMBERED_MAX = 256

export type Masker = {
  /** Remembers the credentials in sent headers, because a response may repeat them. */
  remember(headers: Readonly<Record<string, string>>): void
  header(name: string, value: string): string
  text(text: string): string
  /** @returns the JSON without credentials; undefined if invalid or too deep */
  json(text: string): string | undefined
}

/** Creates a masker. It finds credentials by their name, by their form, and because they were sent before. */
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

/** The forms in which a credential can appear: as sent, without its scheme, and encoded. */
function formsOf(value: string): string[] {
  const plain = [value, value.split(' ').at(-1) ?? ''].filter((one) => one !== '')
  return plain.flatMap((one) => {
    const bytes = Buffer.from(one)
    return [one, encodeURIComponent(one), bytes.toString('base64'), bytes.toString('base64url')]
  })
}
