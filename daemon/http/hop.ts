import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/*
 * What a front says of the client whose request it hands to the leader. It is signed with a secret that only daemons of
 * one marketplace have, so that a client cannot choose its own address.
 */

/** Header of a handed request. The leader's responses have it, too: so a front knows that it reached its marketplace. */
export const HOP_HEADER = 'Souk-Front'
const NAME = HOP_HEADER.toLowerCase()

export type FrontClient = {
  /** Address of the front's client. */
  readonly address: string
  readonly isTls: boolean
  /** Whether other machines can connect to the front. Then no request is one of the leader's own machine. */
  readonly isOpen: boolean
}

type Signable = Pick<IncomingMessage, 'method' | 'url'>

const hops = new WeakMap<IncomingMessage, FrontClient>()

/** The header's value. It is good for one method and URL. */
export function hopValue(secret: string, req: Signable, { address, isTls, isOpen }: FrontClient): string {
  return signed(secret, req, `${isTls ? 'tls' : 'plain'} ${isOpen ? 'open' : 'local'} ${address}`)
}

function signed(secret: string, { method, url }: Signable, words: string): string {
  return `${createHmac('sha256', secret).update(`${method} ${url} ${words}`).digest('hex')} ${words}`
}

/** Reads the header of a handed request, if its signature is right, and marks the response. */
export function readHop(secret: string, req: IncomingMessage, res: ServerResponse): void {
  const given = req.headers[NAME]
  if (given === undefined) return
  const [, ...words] = String(given).split(' ')
  const expected = Buffer.from(signed(secret, req, words.join(' ')))
  const sent = Buffer.from(String(given))
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return
  const [transport, reach, address = ''] = words
  hops.set(req, { address, isTls: transport === 'tls', isOpen: reach === 'open' })
  res.setHeader(HOP_HEADER, 'leader')
}

/** What a front said of the client; undefined for a request that no front handed over. */
export const signedHop = (req: IncomingMessage): FrontClient | undefined => hops.get(req)

/** Whether the header is there, but not signed by a front of this marketplace. */
export const isUnsigned = (req: IncomingMessage): boolean => req.headers[NAME] !== undefined && !hops.has(req)

export const isOfLeader = (answer: IncomingMessage): boolean => answer.headers[NAME] !== undefined
