import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopback } from '../../src/core/loopback.ts'
import { FIRST_WORDS_MS, LOOPBACK_RESERVE, MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ADDRESS } from './limits.ts'
import { type Peers, peerOf, subscriberOf } from './peers.ts'
import type { EarlyConnection } from './port.ts'

export type Connections = {
  /** A request came in; called once for each, before anything is answered. */
  readonly began: (req: IncomingMessage, res: ServerResponse) => void
  /** Whether an answer is on its way: nothing else may be written then. */
  readonly isAnswering: (socket: Socket) => boolean
  /** From now on only answers under way keep a connection, each until it is sent: a stop waits for nobody's silence. */
  readonly drain: () => void
}

/** A server, and the connections that it had before. */
type Guarded = { readonly server: Server; readonly early?: readonly EarlyConnection[] }

type Connection = {
  readonly address: string
  readonly place: string
  /** When it was let in, by the clock on the wall. */
  readonly since: number
  res: ServerResponse | undefined
}

/**
 * Bounds the connections of one address and of all together. Whoever is silent never keeps another out: where a bound
 * is reached, the one that was silent or idle longest makes room, then the one whose request is longest on its way.
 * One that has just come is not silent yet: its first words may be here already, and not read.
 */
export function boundConnections({ server, early = [] }: Guarded, peers: Peers, wall: () => number): Connections {
  const { all, ofAddress, add, remove, drop, drain } = openConnections(wall)
  const connected = (socket: Socket) => {
    const peer = peerOf({ socket } as Pick<IncomingMessage, 'socket'>)
    if (hasRoom(peer)) letIn(socket, peer)
    else socket.destroy()
  }
  // Over TLS requests come on a socket of their own, which then stands for the one that was let in.
  const secured = (socket: Socket) => {
    const place = placeOf(socket)
    for (const [under, connection] of all) if (connection.place === place) remove(under)
    letIn(socket, peerOf({ socket } as Pick<IncomingMessage, 'socket'>))
  }
  for (const { socket, isSecure } of early) (isSecure ? secured : connected)(socket)
  server.on('connection', connected)
  server.on('secureConnection', secured)

  function letIn(socket: Socket, peer: string): void {
    add(socket, subscriberOf(peer))
    socket.once('close', () => remove(socket))
  }

  /** The machine's own administrator gets in when everything else is taken; a proxy stands for many clients. */
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
    began: ({ socket }, res) => {
      const connection = all.get(socket)
      if (connection) connection.res = res
    },
    isAnswering: (socket) => {
      const res = all.get(socket)?.res
      return res?.headersSent === true && !res.writableFinished
    },
    drain,
  }
}

/** What keeps a connection: nothing, that it has just come, a request on its way, or an answer to one. */
type Standing = 'silent' | 'fresh' | 'unfinished' | 'answering'

function standingOf({ res, since }: Connection, now: number): Standing {
  if (!res) return now - since < FIRST_WORDS_MS ? 'fresh' : 'silent'
  if (res.writableFinished) return 'silent'
  return res.req.complete || res.headersSent ? 'answering' : 'unfinished'
}

/** Where a connection comes from: no two that are open share it. */
function placeOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Those that are open, and those of each address. */
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

  /** Node itself waits for connections that never said anything, such as browsers open ahead. */
  function drain(): void {
    isDraining = true
    for (const [socket, { res }] of all) {
      if (!res || res.writableFinished) drop(socket)
      else res.once('finish', () => socket.destroySoon())
    }
  }

  return { all, ofAddress, add, remove, drop, drain }
}
