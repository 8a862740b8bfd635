import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet'

/** Records by `TYPE name`; a name with no record of any type does not exist. `REFERRAL name` are the name servers of a zone below. */
export type Zone = { [question: string]: readonly Omit<Answer, 'name' | 'type'>[] | 'truncate' | 'silent' | undefined }

/** How it answers. */
type Manner = {
  /** Answers say that they were validated. */
  authenticated: boolean
  tcp: boolean
  /** They are its own, not what it has heard. */
  authoritative: boolean
}

export type NameServer = {
  readonly zone: Zone
  /** `address:port`, as resolvers are configured. */
  readonly server: string
  readonly port: number
  /** `udp TYPE name` of every question, in order. */
  readonly asked: string[]
  readonly say: Manner
  readonly close: () => Promise<void>
}

const AUTHENTIC = 0x20
const NXDOMAIN = 3
const DEFAULT_TTL = 3_600

/** A name server on loopback, over UDP and TCP at one port, that answers from a table. */
export async function openNameServer(zone: Zone = {}, { host = '127.0.0.1', at = 0 } = {}): Promise<NameServer> {
  const asked: string[] = []
  const say: Manner = { authenticated: false, tcp: true, authoritative: true }
  const answerTo = (bytes: Buffer, over: 'udp' | 'tcp') => answer({ zone, asked, say }, bytes, over)
  const tcp = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    if (!say.tcp) return void socket.destroy()
    socket.on('data', (chunk: Buffer) => {
      const out = answerTo(chunk.subarray(2), 'tcp')
      if (!out) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(out.length)
      socket.write(Buffer.concat([length, out]))
    })
  })
  tcp.listen(at, host)
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  udp.on('message', (bytes, from) => {
    const out = answerTo(bytes, 'udp')
    if (out) udp.send(out, from.port, from.address)
  })
  udp.bind(port, host)
  await once(udp, 'listening')
  return {
    zone,
    asked,
    say,
    port,
    server: `${host}:${port}`,
    close: async () => {
      udp.close()
      tcp.close()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
}

type Told = Pick<NameServer, 'zone' | 'asked' | 'say'>

function answer({ zone, asked, say }: Told, bytes: Buffer, over: 'udp' | 'tcp'): Buffer | undefined {
  const query = decode(bytes)
  const [question] = query.questions ?? []
  if (!question) return undefined
  const name = question.name.toLowerCase()
  asked.push(`${over} ${question.type} ${name}`)
  const found = zone[`${question.type} ${name}`]
  if (found === 'silent') return undefined
  const isCut = found === 'truncate' && over === 'udp'
  const own = found === 'truncate' ? zone[`FULL ${question.type} ${name}`] : found
  const alias = found === undefined && question.type !== 'CNAME' ? zone[`CNAME ${name}`] : undefined
  const asAnswer = (list: Zone[string], type: string) =>
    (Array.isArray(list) ? list : []).map((record) => ({ ttl: DEFAULT_TTL, ...record, name, type }) as Answer) // a table of a test
  const below = zone[`REFERRAL ${name}`]
  const packet: Packet = {
    type: 'response',
    id: query.id ?? 0,
    flags: flagsOf({ isThere: isThere(zone, name), isCut, isOwn: !below, say }),
    questions: [question],
    answers: [...asAnswer(alias, 'CNAME'), ...(isCut ? [] : asAnswer(own, question.type))],
    authorities: asAnswer(below, 'NS'),
  }
  return encode(packet)
}

/** A name below which there is another exists, too. */
function isThere(zone: Zone, name: string): boolean {
  return Object.keys(zone).some((key) => key.endsWith(` ${name}`) || key.endsWith(`.${name}`))
}

type Flags = Pick<Told, 'say'> & { readonly isThere: boolean; readonly isCut: boolean; readonly isOwn: boolean }

function flagsOf({ isThere, isCut, isOwn, say }: Flags): number {
  const told = [
    isOwn && say.authoritative ? AUTHORITATIVE_ANSWER : 0,
    say.authenticated ? AUTHENTIC : 0,
    isCut ? TRUNCATED_RESPONSE : 0,
    isThere ? 0 : NXDOMAIN,
  ]
  return told.reduce((flags, flag) => flags | flag, 0)
}
