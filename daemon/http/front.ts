import { Agent, type IncomingMessage, type RequestOptions, request, type ServerResponse } from 'node:http'
import { request as requestSecure, Agent as SecureAgent } from 'node:https'
import { pipeline } from 'node:stream'
import { Counter, Registry } from 'prom-client'
import { AppError } from '../../src/core/error.ts'
import type { Entropy } from '../../src/core/hex.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import { before } from '../../src/core/record.ts'
import type { Config } from '../../src/model/start.ts'
import { instanceGauge, processMetrics } from '../features/operator/metrics.ts'
import { hashSecret } from '../kernel/identity.ts'
import { newRequestId } from './broken.ts'
import { isTls, type Peers, peerOf } from './connections.ts'
import { HOP_HEADER, hopValue, isOfLeader, isUnsigned } from './hop.ts'
import { openHosts } from './host.ts'
import { FRONT_CONNECT_MS, FRONT_READY_MS, IDLE_SOCKET_MS, MAX_HANDED, RETRY_AFTER_S } from './limits.ts'
import { hasBody } from './read-exchange.ts'
import { answerProbe, sendError } from './send.ts'

/*
 * A front hands every request to the leader, the one daemon that works, and passes its response on. It never sends a
 * request twice: the leader may have carried it out, and only the client knows whether it may be sent again.
 */

/** The daemon that leads, with what its fronts need to be known there. */
export type Leader = {
  readonly label: string
  /** Where it answers; undefined while nobody knows. */
  readonly url?: string
  /** Its certificate (PEM), the only one that is accepted. */
  readonly cert?: string
  /** Secret of the marketplace's daemons, and its admin key; undefined while the marketplace is created. */
  readonly secret?: string
  readonly adminKeyHash?: string
}

/** Headers that belong to one connection (RFC 9110, 7.6.1), and those that the front answers or sets. */
const OF_CONNECTION =
  /^(connection|keep-alive|proxy-connection|proxy-authorization|te|trailer|transfer-encoding|upgrade|expect)$/i

type FrontParts = {
  readonly config: Config
  readonly entropy: Entropy
  readonly port: () => number
  readonly peers: Peers
}
type Exchanged = { readonly req: IncomingMessage; readonly res: ServerResponse }
type Result = 'answered' | 'refused' | 'broken'
/** A leader that answers, and the connections to it. */
type Open = {
  readonly leader: Leader
  readonly agent: Agent
  readonly at: URL
  readonly secret: string
  /** Whether other machines can connect to this front. */
  readonly isOpen: boolean
}

export type FrontServer = {
  /** Hands requests to this leader from now on, to none if undefined. Figures are shown then, too. */
  readonly follow: (leader: Leader | undefined) => void
  /** @param away - why there is no response while no leader is known */
  readonly serve: (exchanged: Exchanged, away: string) => void
}

export function openFront({ config, entropy, port, peers }: FrontParts): FrontServer {
  const faultOf = openHosts(config, port)
  const figures = openFigures()
  const isOpen = !isLoopback(config.host)
  let lastKnown: Leader | undefined
  let open: Open | undefined

  /** Names a response that is the front's own. */
  function named(res: ServerResponse): string {
    const requestId = newRequestId({ entropy })
    if (!res.headersSent) res.setHeader('X-Request-Id', requestId)
    return requestId
  }
  const fail = (res: ServerResponse, error: AppError) => sendError(res, error, { requestId: named(res) })
  const refuse = (res: ServerResponse, sentence: string) =>
    fail(res, new AppError('unavailable', sentence, { retryAfter: RETRY_AFTER_S }))
  const hands = openHands(figures, refuse)

  /** Answers `/live` and `/ready`, whatever address the caller names. A front is ready if its leader is. */
  function probed({ req, res }: Exchanged, away: string): boolean {
    if (isUnsigned(req)) return false
    if (open === undefined || pathOf(req) !== '/ready') return answerProbe(req, res, { away })
    ready({ req, res }, open)
    return true
  }

  function showFigures({ req, res }: Exchanged, { adminKeyHash }: Leader): void {
    const isOpened = config.metricsOpen === true && !isOpen && !peers.isForwarded(req)
    const key = String(req.headers.authorization).replace(/^Bearer +/i, '')
    named(res)
    if (isOpened || hashSecret(key) === adminKeyHash) void figures.show(res)
    else fail(res, new AppError('unauthorized', KEY_NEEDED))
  }

  function admitted({ req, res }: Exchanged, away: string): void {
    if (lastKnown && pathOf(req) === '/metrics') showFigures({ req, res }, lastKnown)
    else if (open && !hands.areFull()) hands.take({ req, res }, open)
    else {
      figures.count('refused')
      refuse(res, open ? `This daemon hands on ${MAX_HANDED} requests at a time.` : away)
    }
  }

  return {
    follow(leader) {
      const { label, url, secret } = leader ?? {}
      if (label === open?.leader.label && url === open?.leader.url && secret === open?.leader.secret) return
      lastKnown = leader ?? lastKnown
      // Requests to the leader before end here. It has no lease any more, so it can commit nothing.
      open?.agent.destroy()
      open = leader && url && secret ? { leader, secret, at: new URL(url), agent: agentOf(leader), isOpen } : undefined
    },
    serve({ req, res }, away) {
      if (probed({ req, res }, away)) return
      const fault = faultOf(req)
      if (fault) fail(res, fault)
      else admitted({ req, res }, away)
    },
  }
}

const pathOf = ({ url = '/' }: IncomingMessage): string => before(url, '?')
const KEY_NEEDED = 'This endpoint needs the admin key: send Authorization: Bearer adm_….'

/** Counts the requests that are handed on, and refuses those of which the leader's response does not come. */
function openHands(figures: ReturnType<typeof openFigures>, refuse: (res: ServerResponse, sentence: string) => void) {
  let handed = 0
  return {
    areFull: () => handed >= MAX_HANDED,
    take({ req, res }: Exchanged, to: Open): void {
      handed += 1
      let isOver = false
      hand({ req, res }, to, (result, sentence) => {
        if (isOver) return
        isOver = true
        handed -= 1
        figures.count(result)
        if (sentence === undefined || res.destroyed) return
        if (res.headersSent) res.destroy()
        else refuse(res, `${to.leader.label} ${sentence}`)
      })
    },
  }
}

/** Hands a request to the leader, and its response to the client. */
function hand({ req, res }: Exchanged, to: Open, over: (result: Result, sentence?: string) => void): void {
  const { out, isSent } = send(req, to, IDLE_SOCKET_MS)
  out.once('response', (answer) => {
    if (!isOfLeader(answer)) {
      answer.destroy()
      return over('refused', 'leads, but does not serve yet.')
    }
    res.writeHead(answer.statusCode ?? 0, answer.statusMessage, handedHeaders(answer))
    res.flushHeaders()
    // An incomplete response ends the connection, so that it is not taken for a whole one.
    pipeline(answer, res, (error) => over(error ? 'broken' : 'answered'))
  })
  out.once('error', () => {
    if (isSent()) over('broken', 'did not answer. It may have done what was asked: send the same request again.')
    else over('refused', 'leads, but cannot be reached. Nothing was sent to it.')
  })
  res.once('close', () => {
    if (res.writableFinished) return
    out.destroy()
    over('broken')
  })
  if (hasBody(req)) req.pipe(out)
  else out.end()
}

function ready({ req, res }: Exchanged, to: Open): void {
  const { label } = to.leader
  const { out } = send(req, to, FRONT_READY_MS)
  out.once('response', (answer) => {
    answer.resume()
    const isWell = answer.statusCode === 200 && isOfLeader(answer)
    answerProbe(req, res, {
      well: `ok: a front of ${label}`,
      ...(isWell ? {} : { away: `${label} leads, but is not ready.` }),
    })
  })
  out.once('error', () => res.headersSent || answerProbe(req, res, { away: `${label} leads, but cannot be reached.` }))
  out.end()
}

/** Begins a request to the leader, without its body. `isSent` says whether any of it may have arrived. */
function send(req: IncomingMessage, { at, agent, secret, isOpen }: Open, timeoutMs: number) {
  let isSent = false
  const options: RequestOptions = {
    agent,
    host: at.hostname.replace(/^\[|\]$/g, ''),
    port: at.port,
    method: req.method ?? 'GET',
    path: req.url ?? '/',
    headers: [
      ...requestHeaders(req),
      HOP_HEADER,
      hopValue(secret, req, { address: peerOf(req), isTls: isTls(req), isOpen }),
    ],
    timeout: FRONT_CONNECT_MS,
  }
  const out = at.protocol === 'https:' ? requestSecure(options) : request(options)
  out.once('socket', (socket) => {
    const begin = () => {
      isSent = true
      out.setTimeout(timeoutMs)
    }
    if (socket.connecting) socket.once('connect', begin)
    else begin()
  })
  out.once('timeout', () => out.destroy(new Error('the leader did not answer in time')))
  return { out, isSent: () => isSent }
}

/** Only the certificate in the lease is accepted, whatever names it has: the database says whose it is. */
function agentOf({ cert }: Leader): Agent {
  if (cert === undefined) return new Agent({ keepAlive: true })
  return new SecureAgent({ keepAlive: true, ca: cert, checkServerIdentity: () => undefined })
}

/** The headers of a message as they came, without those of its connection. */
function handedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set(headers.connection?.toLowerCase().split(/\s*,\s*/) ?? [])
  return rawHeaders.flatMap((name, at) => {
    if (at % 2 === 1 || OF_CONNECTION.test(name) || named.has(name.toLowerCase())) return []
    return name.toLowerCase() === HOP_HEADER.toLowerCase() ? [] : [name, rawHeaders[at + 1] ?? '']
  })
}

function requestHeaders(req: IncomingMessage): string[] {
  const { 'transfer-encoding': encoding, 'content-length': length } = req.headers
  // Without a length, node would announce a body where there is none.
  if (encoding === undefined && length === undefined && req.method !== 'GET' && req.method !== 'HEAD')
    return [...handedHeaders(req), 'Content-Length', '0']
  return encoding === undefined ? handedHeaders(req) : [...handedHeaders(req), 'Transfer-Encoding', 'chunked']
}

function openFigures() {
  const registry = new Registry()
  instanceGauge('front', registry)
  const handed = new Counter({
    name: 'souk_front_requests_total',
    help: 'Requests handed to the leader by result: answered, refused (nothing was sent) or broken.',
    labelNames: ['result'],
    registers: [registry],
  })
  let isObserved = false
  for (const result of ['answered', 'refused', 'broken'] satisfies Result[]) handed.inc({ result }, 0)
  return {
    count: (result: Result) => handed.inc({ result }),
    async show(res: ServerResponse): Promise<void> {
      // Not before: most daemons never are a front, and this observes the process.
      if (!isObserved) processMetrics(registry)
      isObserved = true
      const text = await registry.metrics()
      res.writeHead(200, { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' }).end(text)
    },
  }
}
