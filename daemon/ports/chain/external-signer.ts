import { bytesToHex } from '@noble/hashes/utils.js'
import { request } from 'undici'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { isObject, jsonIn } from '../../../src/core/json.ts'
import { readSigner, type SignerTarget } from '../../../src/core/signer-target.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import { openProgram, ProgramError } from '../program/program.ts'
import { boundedText } from './evm/rpc/endpoint.ts'
import { type Signer, SignerUnavailableError } from './key.ts'
import type { Recover } from './signature.ts'

/** Longest silence of a signer. What it sends meanwhile, a program also to its error output, begins the wait anew. */
const SILENCE_MS = 30 * SECOND_MS
/** A signature that takes longer is reported. */
const SLOW_MS = 5 * SECOND_MS
/** After a failure, requests fail at once for this long, so that those in the queue do not wait for one silence each. */
const PAUSE_MS = SECOND_MS
const MAX_ANSWER_BYTES = 4_096
const MAX_REASON_CHARS = 200
const V_OFFSET = 27
/** Signed to see whether a signer works: keccak256 of nothing, which is the digest of no transaction and no message. */
const CHECK = Buffer.from('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470', 'hex')

export type SignerRole = 'gas' | 'pay-to'

export type ExternalSigner = Signer & Required<Pick<Signer, 'fault' | 'check'>> & { readonly close: () => void }

export type SignerParts = {
  readonly target: string
  readonly role: SignerRole
  readonly address: Wallet
  readonly recover: Recover
  readonly wall: () => number
  readonly silenceMs?: number
}

/**
 * A key outside of this program. One request at a time: a line of JSON with `role`, `address` and `digest`, answered by
 * a line with `signature`. Every signature is checked before it is used.
 */
export function openExternalSigner(parts: SignerParts): ExternalSigner {
  const { target: text, role, address, recover, wall, silenceMs = SILENCE_MS } = parts
  const target = readSigner(text)
  if (target === undefined) throw new RangeError('a signer is exec:COMMAND or a URL')
  const stop = new AbortController()
  const exchange = exchangeOf(target, silenceMs, stop.signal)
  let turn: Promise<unknown> = Promise.resolve()
  let since: number | undefined
  let failure: { readonly at: number; readonly why: string } | undefined

  async function ask(digest: Uint8Array): Promise<Hex> {
    if (failure && wall() - failure.at < PAUSE_MS) throw new SignerUnavailableError(failure.why)
    since = wall()
    try {
      const line = JSON.stringify({ role, address, digest: `0x${bytesToHex(digest)}` })
      const signature = signatureIn(await exchange(`${line}\n`))
      const by = recover(digest, signature)
      if (by !== address) throw new Error(`it signed with ${by ?? 'no valid signature'}, not with ${address}`)
      failure = undefined
      return signature
    } catch (error) {
      failure = { at: wall(), why: reasonOf(error) }
      throw new SignerUnavailableError(failure.why, { cause: error })
    } finally {
      since = undefined
    }
  }

  const sign = (digest: Uint8Array): Promise<Hex> => {
    const signed = turn.then(() => ask(digest))
    turn = signed.catch(() => undefined) // the caller has it
    return signed
  }
  const problem = (): string | undefined => {
    if (failure) return failure.why
    const waited = since === undefined ? 0 : wall() - since
    return waited > SLOW_MS ? `no answer for ${Math.round(waited / SECOND_MS)} s` : undefined
  }
  return {
    address,
    sign,
    fault: () => {
      const why = problem()
      return why && `The signer of the ${role} key ${address} (${target.shown}) fails: ${why}.`
    },
    check: async () => {
      if (since === undefined) await sign(CHECK).catch(() => undefined) // `fault` has it
    },
    close: () => stop.abort(),
  }
}

function exchangeOf(target: SignerTarget, silenceMs: number, signal: AbortSignal): (line: string) => Promise<string> {
  if (target.kind === 'exec') {
    const shell = openProgram('/bin/sh', { deadlineMs: silenceMs, isOwn: true, isPatient: true })
    const args = ['-c', target.command]
    return async (line) => {
      const { stdout } = await shell.run({ args, stdin: line, maxBytes: MAX_ANSWER_BYTES, signal })
      return stdout.toString('utf8')
    }
  }
  const { url } = target
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return async (body) => {
    const times = { headersTimeout: silenceMs, bodyTimeout: silenceMs }
    const answer = await request(url, { method: 'POST', headers, body, signal, ...times })
    const text = await boundedText(answer.body, MAX_ANSWER_BYTES)
    if (answer.statusCode !== 200) throw new Error(`it returned status ${answer.statusCode}`)
    if (text === undefined) throw new Error(`it answered with more than ${MAX_ANSWER_BYTES} bytes`)
    return text
  }
}

/** The signature in an answer, with v as tokens require it. @throws Error */
function signatureIn(text: string): Hex {
  const value = jsonIn(text)?.value
  const signature = isObject(value) ? value['signature'] : undefined
  if (typeof signature !== 'string' || !/^0x[0-9a-f]{130}$/i.test(signature)) {
    throw new Error('its answer is not {"signature":"0x…"} with 65 bytes')
  }
  const v = Number.parseInt(signature.slice(-2), 16)
  const end = (v < V_OFFSET ? v + V_OFFSET : v).toString(16)
  return `0x${signature.slice(2, -2).toLowerCase()}${end}`
}

/** Why there is no signature, without what the signer wrote, except a program's last line of errors. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = isObject(error) && typeof error['code'] === 'string' ? error['code'] : undefined
  const said = error instanceof ProgramError ? error.said.trim().split('\n').at(-1) : ''
  const words = said ? `${error.message}: ${said}` : (code ?? error.message)
  return words.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_REASON_CHARS)
}
