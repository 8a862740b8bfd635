import { readdirSync, readlinkSync } from 'node:fs'
import { proc, processStartedMs } from '../client/process.ts'
import { attempt } from '../core/error.ts'

/** LISTEN state in `/proc/net/tcp`. */
const LISTEN = '0A'
const STATE_FIELD = 3
const INODE_FIELD = 9
const COMMAND_CHARS_MAX = 80

export type PortOwner = { readonly pid: number; readonly program: string; readonly startedMs: number | undefined }

/** The process that listens on a local port. Undefined if it belongs to another user, or without `/proc`. */
export function portOwner(port: number): PortOwner | undefined {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => listeningInodes(proc(`net/${table}`) ?? '', port)))
  if (inodes.size === 0) return undefined
  const pid = entriesOf('')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => holdsSocket(name, inodes))
  return pid === undefined
    ? undefined
    : { pid: Number(pid), program: programOf(pid), startedMs: processStartedMs(Number(pid)) }
}

/** Inodes of the sockets that listen on a port, from the text of `/proc/net/tcp`. */
export function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) && fields[STATE_FIELD] === LISTEN)
    .flatMap((fields) => fields[INODE_FIELD] ?? [])
}

function holdsSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  return entriesOf(`${pid}/fd`).some((fd) => {
    const inode = /^socket:\[(\d+)\]$/.exec(attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '')?.[1]
    return inode !== undefined && inodes.has(inode)
  })
}

function programOf(pid: string): string {
  const words = (proc(`${pid}/cmdline`) ?? '').split('\0').filter((word) => word !== '')
  const command = words[0]?.split('/').at(-1) ?? (proc(`${pid}/comm`) ?? 'unknown').trim()
  return command.length > COMMAND_CHARS_MAX ? `${command.slice(0, COMMAND_CHARS_MAX)}…` : command
}

function entriesOf(name: string): string[] {
  return attempt(() => readdirSync(`/proc/${name}`)) ?? []
}
