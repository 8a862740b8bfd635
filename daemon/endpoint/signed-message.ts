import { AppError } from '../../src/core/error.ts'
import { isSignature, type Wallet } from '../../src/core/hex.ts'
import { personalDigest } from '../../src/core/keccak.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'
import type { Context } from '../kernel/context.ts'

/** Allowed difference between a signature's timestamp and the daemon's wall time (decisions §6). */
const MAX_SKEW_MS = 5 * MINUTE_MS
const TIMESTAMP = /^\d{1,12}$/

export type SignedMessage = {
  readonly signature: string
  /** Unix seconds as text. */
  readonly timestamp: string
  /** Lines of the signed message, without the last one, which states the timestamp. */
  readonly lines: readonly string[]
  readonly wall: number
}

/** The wallet that signed fixed lines (EIP-191). @throws AppError 401 if the signature is stale or invalid. */
export function signerOf({ recover }: Pick<Context, 'recover'>, signed: SignedMessage): Wallet {
  const { signature, timestamp, lines, wall } = signed
  if (!TIMESTAMP.test(timestamp)) throw new AppError('unauthorized', 'timestamp: must be Unix time in seconds.')
  if (Math.abs(Number(timestamp) * SECOND_MS - wall) > MAX_SKEW_MS) {
    throw new AppError('unauthorized', `timestamp: must be within ${MAX_SKEW_MS / SECOND_MS} s of the current time.`)
  }
  const text = [...lines, `timestamp: ${timestamp}`].join('\n')
  const wallet = isSignature(signature) ? recover(personalDigest(text), signature) : undefined
  if (wallet === undefined) throw new AppError('unauthorized', 'signature: invalid wallet signature.')
  return wallet
}
