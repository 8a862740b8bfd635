import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, SECOND_MS, unixSeconds } from '../../src/core/time.ts'

/** Allowed difference between a callback's timestamp and the machine's clock. */
const MAX_SKEW_MS = 5 * MINUTE_MS
const TIMESTAMP = /^\d{1,12}$/

/** A vendor's callback, signed over timestamp and raw body. */
export type SignedCallback = {
  /** HMAC-SHA256 over `<timestamp>.<body>`, lower-case hex. */
  readonly signature: string
  /** Unix seconds as text. */
  readonly timestamp: string
  readonly body: Buffer
}

export type VendorDecision = {
  readonly session_id: string
  readonly decision: 'approved' | 'rejected'
  readonly reason?: string
}

/** An external identity verifier (specification, `POST /v1/verification/start`). */
export type VerificationVendor = {
  readonly name: string
  /** Idempotent per attempt. @returns the session id, and the URL that the operator must open */
  openSession(order: {
    readonly attemptId: string
    readonly operatorName: string
    readonly callbackUrl: string
  }): Promise<{ readonly id: string; readonly url: string | null }>
  isGenuine(callback: SignedCallback, wall: number): boolean
  /** Makes a decision, in the sandbox only. @returns the callback that the vendor would send */
  decide?(decision: VendorDecision, wall: number): SignedCallback
}

/** The identity verifier of a sandbox. It decides as the administrator says. */
export function sandboxVendor(secret: Buffer): Required<VerificationVendor> {
  const sign = (timestamp: string, body: Buffer) =>
    createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
  return {
    name: 'sandbox',
    async openSession({ attemptId }) {
      return { id: `vs_${createHash('sha256').update(attemptId).digest('hex')}`, url: null }
    },
    isGenuine({ signature, timestamp, body }, wall) {
      if (!TIMESTAMP.test(timestamp) || Math.abs(Number(timestamp) * SECOND_MS - wall) > MAX_SKEW_MS) return false
      const expected = sign(timestamp, body)
      const given = Buffer.from(signature, 'hex')
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
    decide(decision, wall) {
      const body = Buffer.from(JSON.stringify(decision))
      const timestamp = String(unixSeconds(wall))
      return { signature: sign(timestamp, body).toString('hex'), timestamp, body }
    },
  }
}
