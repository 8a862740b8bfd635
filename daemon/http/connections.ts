import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { isLoopback } from '../../src/core/loopback.ts'
import type { Config } from '../../src/model/start.ts'
import { signedHop } from './hop.ts'
import { FIRST_WORDS_MS, LOOPBACK_RESERVE, MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ADDRESS } from './limits.ts'

export type Connections = {
  /** Called once for each incoming request, before any response. */
  readonly began: (req: IncomingMessage, res: ServerResponse) => void
  /** Whether a response is being sent. Nothing else may be written to the socket then. */
  readonly isAnswering: (socket: Socket) => boolean
  /** Closes all connections. A connection with a response in progress closes after the response. */
  readonly drain: () => void
}

type Connection = {
  readonly address: string
  readonly place: string
  /** Wall time when the connection was accepted. */
  readonly since: number
  res: ServerResponse | undefined
}

/**
 * Limits connections per address and in total. At a limit, a new connection replaces the oldest one without a request
 * in progress. If there is none, it replaces the oldest one whose request is still arriving. Connections younger than
 * `FIRST_WORDS_MS` are replaced last, because their data may still be unread.
 */
export function boundConnections(
  { server }: { readonly server: Server },
  peers: Peers,
  wall: () => number,
): Connections {
  const { all, ofAddress, add, remove, drop, drain } = openConnections(wall)
  const connected = (socket: Socket) => {
    const peer = peerOf({ socket } as Pick<IncomingMessage, 'socket'>)
    if (hasRoom(peer)) letIn(socket, peer)
    else socket.destroy()
  }
  // Over TLS, the accepted socket is wrapped in a new one for requests. Counts only the new one.
  const secured = (socket: Socket) => {
    const place = placeOf(socket)
    for (const [under, connection] of all) if (connection.place === place) remove(under)
    letIn(socket, peerOf({ socket } as Pick<IncomingMessage, 'socket'>))
  }
  server.on('connection', connected)
  server.on('secureConnection', secured)

  function letIn(socket: Socket, peer: string): void {
    add(socket, subscriberOf(peer))
    socket.once('close', () => remove(socket))
  }

  /** Whether there is room for a connection. Some room is reserved for this machine. Proxies have no address limit. */
  function hasRoom(peer: string): boolean {
    const own = peers.isProxy(peer) ? undefined : ofAddress.get(subscriberOf(peer))
    if (own && own.size >= MAX_CONNECTIONS_OF_ADDRESS) return makesRoom(own)
    const most = isLoopback(peer) ? MAX_CONNECTIONS : MAX_CONNECTIONS - LOOPBACK_RESERVE
    return all.size < most || makesRoom(all.keys())
  }

  function makesRoom(sockets: Iterable<Socket>): boolean {
    const now = wall()
    const first = new Map<Standing, Socket>()
    for (const socket of sockets) {
      const standing = standingOf(all.get(socket) as Connection, now)
      if (standing === 'silent') return drop(socket)
      if (!first.has(standing)) first.set(standing, socket)
    }
    const next = first.get('unfinished') ?? first.get('fresh')
    return next !== undefined && drop(next)
  }

  return {
    began: (req, res) => {
      const connection = all.get(req.socket)
      if (!connection) return
      connection.res = res
      // A front has many clients, which it limits itself.
      if (signedHop(req)) ofAddress.get(connection.address)?.delete(req.socket)
    },
    isAnswering: (socket) => {
      const res = all.get(socket)?.res
      return res?.headersSent === true && !res.writableFinished
    },
    drain,
  }
}

/** State of a connection: silent or idle, new, receiving a request, or sending a response. */
type Standing = 'silent' | 'fresh' | 'unfinished' | 'answering'

function standingOf({ res, since }: Connection, now: number): Standing {
  if (!res) return now - since < FIRST_WORDS_MS ? 'fresh' : 'silent'
  if (res.writableFinished) return 'silent'
  return res.req.complete || res.headersSent ? 'answering' : 'unfinished'
}

/** Remote address and port: unique among open connections. */
function placeOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Open connections, in total and per address. */
function openConnections(wall: () => number) {
  const all = new Map<Socket, Connection>()
  const ofAddress = new Map<string, Set<Socket>>()
  let isDraining = false

  function add(socket: Socket, address: string): void {
    all.set(socket, { address, place: placeOf(socket), since: wall(), res: undefined })
    const own = ofAddress.get(address) ?? new Set()
    ofAddress.set(address, own.add(socket))
    if (isDraining) drop(socket)
  }

  function remove(socket: Socket): void {
    const address = all.get(socket)?.address
    if (address === undefined) return
    all.delete(socket)
    const own = ofAddress.get(address)
    own?.delete(socket)
    if (own?.size === 0) ofAddress.delete(address)
  }

  function drop(socket: Socket): true {
    remove(socket) // at once: it counts until its close is seen
    socket.destroy()
    return true
  }

  /** Closes idle connections now, others after their response. Node would also wait for unused connections. */
  function drain(): void {
    isDraining = true
    for (const [socket, { res }] of all) {
      if (!res || res.writableFinished) drop(socket)
      else res.once('finish', () => socket.destroySoon())
    }
  }

  return { all, ofAddress, add, remove, drop, drain }
}

/** Number of leading IPv6 groups that identify one subscriber (RFC 6177). */
const IPV6_SUBSCRIBER_GROUPS = 4
/** Headers that proxies add. */
const forwardingHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

/** Answers questions about the other end of a connection, and about the client behind a proxy. */
export type Peers = {
  /** Client address (IPv6: the subscriber's prefix). Behind a trusted proxy, the address that the proxy reports. */
  readonly addressOf: (req: IncomingMessage) => string
  /** Whether the address may represent many clients: this machine, or a configured proxy. */
  readonly isProxy: (address: string) => boolean
  /** Whether the request has forwarding headers, from a trusted proxy or not. */
  readonly isForwarded: (req: IncomingMessage) => boolean
  /** Whether payment headers may be sent: over TLS, from this machine, or if the operator allows plain HTTP. */
  readonly isConfidential: (req: IncomingMessage) => boolean
}

type Trusting = Pick<Config, 'publicUrl' | 'trustedProxies' | 'plainPayments'>

/**
 * Trusts forwarding headers only from this machine or a configured proxy. Uses only their last value, because the
 * client may have written the earlier ones. TLS at the proxy is trusted only if the public URL is https.
 */
export function openPeers({ publicUrl, trustedProxies = [], plainPayments = false }: Trusting): Peers {
  const proxies = blockListOf(trustedProxies)
  const isPublicTls = publicUrl?.startsWith('https:') === true

  const isProxy = (address: string) => isLoopback(address) || (proxies !== undefined && isListed(proxies, address))
  const forwardedFor = (req: IncomingMessage) => lastOf(req.headers['x-forwarded-for'])
  const hasForwarding = (req: IncomingMessage) => forwardingHeaders.some((name) => req.headers[name] !== undefined)

  function isConfidential(req: IncomingMessage): boolean {
    const peer = callerOf(req)
    if (plainPayments || isTls(req)) return true
    if (!hasForwarding(req)) return isLoopback(peer)
    return isProxy(peer) && isPublicTls && lastOf(req.headers['x-forwarded-proto']) === 'https'
  }

  return {
    addressOf: (req) => {
      const peer = callerOf(req)
      return subscriberOf((isProxy(peer) && forwardedFor(req)) || peer)
    },
    isProxy,
    isForwarded: (req) => hasForwarding(req) || signedHop(req)?.isOpen === true,
    isConfidential,
  }
}

/** The prefix of an IP address that identifies one customer of an internet provider. */
export function subscriberOf(address: string): string {
  if (!isIPv6(address)) return address
  return ipaddr.IPv6.parse(address).toNormalizedString().split(':').slice(0, IPV6_SUBSCRIBER_GROUPS).join(':')
}

export function peerOf({ socket }: Pick<IncomingMessage, 'socket'>): string {
  // An IPv4-mapped IPv6 address is shown as plain IPv4.
  return (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
}

/** Address of the client's end of the connection; that of the front's client for a request that a front handed over. */
function callerOf(req: IncomingMessage): string {
  return signedHop(req)?.address ?? peerOf(req)
}

/** Whether the client's connection is encrypted. */
export function isTls(req: IncomingMessage): boolean {
  return signedHop(req)?.isTls ?? req.socket instanceof TLSSocket
}

function lastOf(header: string | string[] | undefined): string {
  return String(header ?? '')
    .split(',')
    .at(-1) // there is always one
    ?.trim() as string
}

function blockListOf(proxies: readonly string[]): BlockList | undefined {
  if (proxies.length === 0) return undefined
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
