import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'
import { createMasker, type Masker } from './masking.ts'

/** Longest header value and body that are told of, in characters. */
const TOLD_VALUE_CHARS_MAX = 200
const TOLD_BODY_CHARS_MAX = 4_000
/** A body that is larger is told by its size alone. */
const TOLD_BODY_BYTES_MAX = 512 * 1024

export type ToldTo = {
  /** Gets each line: `>` before what is sent, `<` before what is answered. */
  readonly line: (line: string) => void
  /** Headers that the transport sends with every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Bodies are told, too. */
  readonly bodies: boolean
  /** Wall time, epoch milliseconds. */
  readonly now: () => number
}

/** A transport that tells what goes through it, for whoever looks for a fault; no credential is in what it tells. */
export function told(transport: Transport, to: ToldTo): Transport {
  const masker = createMasker()
  return async (request) => {
    tellRequest(request, to, masker)
    const startedAt = to.now()
    const answer = await transport(request).catch((error: unknown) => {
      to.line(`< no answer: ${masker.text(error instanceof Error ? error.message : String(error))}`)
      throw error
    })
    to.line(`< ${answer.status} in ${to.now() - startedAt} ms`)
    tellHeaders('<', answer.headers, { to, masker })
    return to.bodies ? heard(answer, (text) => to.line(`< ${bodyOf(text, masker)}`)) : answer
  }
}

function tellRequest(request: TransportRequest, to: ToldTo, masker: Masker): void {
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const headers: Record<string, string> = { ...to.headers, ...Object.fromEntries(given) }
  masker.remember(headers)
  to.line(`> ${request.method} ${masker.text(request.path)}`)
  tellHeaders('>', headers, { to, masker })
  const { body } = request
  if (!to.bodies || body === undefined) return
  to.line(typeof body === 'string' ? `> ${bodyOf(body, masker)}` : '> a file')
}

type ToldWith = { readonly to: ToldTo; readonly masker: Masker }

function tellHeaders(sign: '>' | '<', headers: Readonly<Record<string, string>>, { to, masker }: ToldWith): void {
  for (const [name, value] of Object.entries(headers)) {
    to.line(`${sign} ${masker.text(name)}: ${clipped(masker.header(name, value), TOLD_VALUE_CHARS_MAX)}`)
  }
}

/** A body without its credentials: what is no JSON may hold them in any form, and is told by its size. */
function bodyOf(text: string, masker: Masker): string {
  const bytes = Buffer.byteLength(text)
  const shown = bytes > TOLD_BODY_BYTES_MAX ? undefined : masker.json(text)
  return shown === undefined ? `${bytes} bytes` : clipped(shown, TOLD_BODY_CHARS_MAX)
}

function clipped(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

/** An answer that says what was read of it. */
export function heard(answer: TransportResponse, hear: (text: string) => void): TransportResponse {
  return {
    ...answer,
    async bytes() {
      const bytes = await answer.bytes()
      hear(Buffer.from(bytes).toString('utf8'))
      return bytes
    },
    async text() {
      const text = await answer.text()
      hear(text)
      return text
    },
  }
}
