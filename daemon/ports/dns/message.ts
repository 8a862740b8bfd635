import { type Answer, AUTHENTIC_DATA, DNSSEC_OK, decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { WorkError } from '../../../src/core/error.ts'

export const recordTypes = ['A', 'AAAA', 'NS', 'SOA', 'MX', 'TXT', 'CAA', 'DS', 'DNSKEY', 'CNAME'] as const
export type RecordType = (typeof recordTypes)[number]

export type DnsRecord = {
  /** Lower case without the final dot. */
  readonly name: string
  readonly type: string
  /** Seconds. */
  readonly ttl: number
  /** In zone file form, such as `10 mail.example.com`. The parts of a TXT record are joined. */
  readonly value: string
}

export type DnsAnswer = {
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL`, … */
  readonly rcode: string
  /** The resolver validated the answer (AD flag). */
  readonly authenticated: boolean
  /** The server is authoritative (AA flag). */
  readonly authoritative: boolean
  readonly records: readonly DnsRecord[]
  /** Authority section: name servers of a zone. */
  readonly authority: readonly DnsRecord[]
}

/** A failed DNS query; the message is public. */
export class DnsError extends WorkError<'timeout' | 'broken' | 'refused'> {
  override readonly name = 'DnsError'
}

export type DnsQuestion = { readonly name: string; readonly type: RecordType }
type Asking = DnsQuestion & { readonly id: number; readonly recursive: boolean }

/** Largest UDP payload that every network path carries (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1_232
const MAX_RECORDS = 100

export function questionBytes({ id, name, type, recursive }: Asking): Buffer {
  return encode({
    type: 'query',
    id,
    flags: (recursive ? RECURSION_DESIRED : 0) | AUTHENTIC_DATA,
    questions: [{ name, type }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_PAYLOAD_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: DNSSEC_OK,
        flag_do: true,
        options: [],
      },
    ],
  })
}

/** Parses an answer; undefined if it is for another question. @throws DnsError `broken` if malformed */
export function readAnswer(bytes: Buffer, asked: Asking): (DnsAnswer & { readonly truncated: boolean }) | undefined {
  const packet = decoded(bytes)
  const [question] = packet.questions ?? []
  if (packet.id !== asked.id || packet.type !== 'response') return undefined
  if (!question || plain(question.name) !== plain(asked.name) || question.type !== asked.type) return undefined
  return {
    // Parsed messages have the name of the response code in `rcode`, which the library's type does not declare.
    rcode: 'rcode' in packet ? String(packet.rcode) : 'NOERROR',
    authenticated: packet.flag_ad,
    authoritative: packet.flag_aa,
    truncated: packet.flag_tc,
    records: (packet.answers ?? []).slice(0, MAX_RECORDS).flatMap(recordOf),
    authority: (packet.authorities ?? []).slice(0, MAX_RECORDS).flatMap(recordOf),
  }
}

function decoded(bytes: Buffer) {
  try {
    return decode(bounded(bytes))
  } catch (error) {
    throw new DnsError('broken', 'A name server sent an invalid response.', error)
  }
}

/** Offsets of the record counts in the header (RFC 1035 section 4.1.1). */
const COUNTS = [6, 8, 10] as const

/** Lowers the record counts to a limit, because 64 KB of compressed names are slow to parse. */
function bounded(bytes: Buffer): Buffer {
  const whole = Buffer.from(bytes)
  let room = MAX_RECORDS
  for (const at of COUNTS) {
    if (bytes.length < at + 2) break
    const count = bytes.readUInt16BE(at)
    // If a section is cut, the start of the later sections is unknown, so the later sections are dropped.
    whole.writeUInt16BE(Math.min(count, room), at)
    room = count > room ? 0 : room - count
  }
  return whole
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

function recordOf(answer: Answer): DnsRecord[] {
  const value = textOfRecord(answer)
  if (value === undefined) return []
  return [{ name: plain(answer.name), type: answer.type, ttl: 'ttl' in answer ? (answer.ttl ?? 0) : 0, value }]
}

/** Value of a record in zone file form; undefined for other record types. */
function textOfRecord(answer: Answer): string | undefined {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
      return answer.data
    case 'NS':
    case 'CNAME':
      return plain(answer.data)
    case 'MX':
      return `${answer.data.preference ?? 0} ${plain(answer.data.exchange) || '.'}`
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = answer.data
      return [plain(mname), plain(rname), serial, refresh, retry, expire, minimum].join(' ')
    }
    case 'TXT':
      return textOf(answer.data)
    case 'CAA':
      return `${answer.data.flags ?? 0} ${answer.data.tag} "${answer.data.value}"`
    case 'DS': {
      const { keyTag, algorithm, digestType, digest } = answer.data
      return [keyTag, algorithm, digestType, digest.toString('hex')].join(' ')
    }
    case 'DNSKEY':
      return `${answer.data.flags} 3 ${answer.data.algorithm} ${answer.data.key.toString('base64')}`
    default:
      return undefined
  }
}

function textOf(data: string | Buffer | (string | Buffer)[]): string {
  const parts = Array.isArray(data) ? data : [data]
  return parts.map((part) => (typeof part === 'string' ? part : part.toString('utf8'))).join('')
}
