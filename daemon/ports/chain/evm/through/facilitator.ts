import { Pool } from 'undici'
import { z } from 'zod'
import { jsonIn } from '../../../../../src/core/json.ts'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import { boundedText } from '../rpc/endpoint.ts'

const MAX_ANSWER_BYTES = 256 * 1024
const MAX_CONNECTIONS = 32
const MAX_REASON_CHARS = 200
const MAX_KINDS = 1_000

/** Time limits by request. `settle` takes longest, because facilitators answer only once they have settled. */
export const foreignTimings = { supportedMs: 10 * SECOND_MS, verifyMs: 15 * SECOND_MS, settleMs: 90 * SECOND_MS }
export type ForeignTimings = Readonly<typeof foreignTimings>

/** Generation of x402. */
export type ForeignVersion = 1 | 2

/** An external facilitator's answer. It is not trusted, because the chain decides. */
export type ForeignWord =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no'; readonly reason: string }
  /** No valid answer; the facilitator may have settled anyway. */
  | { readonly kind: 'none'; readonly reason: string }

/** Request body in the facilitator's x402 version. */
export type ForeignAsk = {
  readonly x402Version: ForeignVersion
  readonly paymentPayload: object
  readonly paymentRequirements: object
}

/** Client of an external facilitator; no retries, no redirects. */
export type ForeignFacilitator = {
  /** Host and port only, because the path may contain a key. */
  readonly label: string
  /** x402 versions in which the facilitator settles `exact` on these networks, newest first; undefined if unknown. */
  kinds(networks: Readonly<Record<ForeignVersion, string>>): Promise<readonly ForeignVersion[] | undefined>
  verify(ask: ForeignAsk): Promise<ForeignWord>
  settle(ask: ForeignAsk): Promise<ForeignWord>
  close(): Promise<void>
}

const Kinds = z.object({
  kinds: z.array(z.object({ x402Version: z.number(), scheme: z.string(), network: z.string() })).max(MAX_KINDS),
})
const Verdict = z.object({ isValid: z.boolean(), invalidReason: z.string().nullish() })
const Settlement = z.object({ success: z.boolean(), errorReason: z.string().nullish() })

type Question = { readonly path: string; readonly body?: string; readonly timeoutMs: number }
type FacilitatorResponse = { readonly value: unknown } | { readonly fault: string }

export function openForeignFacilitator(address: string, timings: ForeignTimings = foreignTimings): ForeignFacilitator {
  const { origin, pathname, host } = new URL(address)
  const base = pathname.replace(/\/+$/, '')
  const pool = new Pool(origin, { connections: MAX_CONNECTIONS, pipelining: 1, bodyTimeout: timings.settleMs })
  const ask = (question: Question) => answerOf(pool, { ...question, path: `${base}${question.path}` })

  async function word<T>(
    question: Question,
    schema: z.ZodType<T>,
    read: (said: T) => ForeignWord,
  ): Promise<ForeignWord> {
    const answer = await ask(question)
    if ('fault' in answer) return { kind: 'none', reason: shown(answer.fault) }
    const parsed = schema.safeParse(answer.value)
    return parsed.success ? read(parsed.data) : { kind: 'none', reason: 'it sent an unexpected response' }
  }

  const { supportedMs, verifyMs, settleMs } = timings
  return {
    label: host,
    kinds: async (networks) => {
      const answer = await ask({ path: '/supported', timeoutMs: supportedMs })
      const parsed = Kinds.safeParse('value' in answer ? answer.value : undefined)
      if (!parsed.success) return undefined
      const isThere = (version: ForeignVersion) =>
        parsed.data.kinds.some(
          (kind) => kind.x402Version === version && kind.scheme === 'exact' && kind.network === networks[version],
        )
      return ([2, 1] as const).filter(isThere)
    },
    verify: (asked) =>
      word({ path: '/verify', body: JSON.stringify(asked), timeoutMs: verifyMs }, Verdict, (said) =>
        said.isValid ? { kind: 'yes' } : { kind: 'no', reason: shown(said.invalidReason) },
      ),
    settle: (asked) =>
      word({ path: '/settle', body: JSON.stringify(asked), timeoutMs: settleMs }, Settlement, (said) =>
        said.success ? { kind: 'yes' } : { kind: 'no', reason: shown(said.errorReason) },
      ),
    close: () => pool.destroy(),
  }
}

const headers = { 'content-type': 'application/json', accept: 'application/json' }

async function answerOf(pool: Pool, { path, body, timeoutMs }: Question): Promise<FacilitatorResponse> {
  const signal = AbortSignal.timeout(timeoutMs)
  const method = body === undefined ? 'GET' : 'POST'
  try {
    const answer = await pool.request({ method, headers, signal, path, body: body ?? null, headersTimeout: timeoutMs })
    const text = await boundedText(answer.body, MAX_ANSWER_BYTES)
    if (text === undefined) return { fault: 'its response is too large' }
    if (answer.statusCode !== 200) return { fault: `it returned status ${answer.statusCode}` }
    return jsonIn(text) ?? { fault: 'its response is not JSON' }
  } catch (error) {
    return { fault: signal.aborted ? `it did not respond within ${timeoutMs} ms` : `it cannot be reached (${error})` }
  }
}

/** Sanitises a facilitator's reason, because it is untrusted text that is logged and displayed. */
function shown(reason: string | null | undefined): string {
  return (reason ?? 'no reason').replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_REASON_CHARS)
}
