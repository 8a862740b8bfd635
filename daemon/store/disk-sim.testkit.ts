import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Disk, DiskFile } from './disk.ts'

/** Content of a simulated file: what a power cut leaves for certain, and what is only in memory. */
type Inode = { current: Buffer; durable: Buffer; modifiedMs: number }
type Dir = { current: Map<string, Inode>; durable: Map<string, Inode> }

export class PowerCut extends Error {}

/** A file system in memory that can lose its power between any two calls. */
export type SimulatedDisk = Disk & {
  /** Calls that changed something so far. */
  readonly steps: () => number
  /** From this step on every changing call fails. */
  cutAt(step: number): void
  /** Lets each sync take so many turns of the event loop. */
  slowSyncs(turns: () => number): void
  /** The file system as it is found after the cut: synced content, and as much of the rest as `luck` grants. */
  survivor(luck: () => number): SimulatedDisk
}

function split(path: string): [dir: string, name: string] {
  const slash = path.lastIndexOf('/')
  return [path.slice(0, slash), path.slice(slash + 1)]
}

function missing(path: string): Error {
  return Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' })
}

/** What is left of a file: its synced bytes, and a prefix of what was written behind them. */
function remains(inode: Inode, luck: () => number): Inode {
  const { current, durable, modifiedMs } = inode
  const isAppend = current.length >= durable.length && current.subarray(0, durable.length).equals(durable)
  const extra = isAppend ? Math.floor(luck() * (current.length - durable.length + 1)) : 0
  const bytes = Buffer.from(isAppend ? current.subarray(0, durable.length + extra) : durable)
  return { current: bytes, durable: bytes, modifiedMs }
}

type Context = { readonly dirs: Map<string, Dir>; steps: number; cutStep: number; syncTurns: () => number }

function dirOf({ dirs }: Context, path: string): Dir {
  const found = dirs.get(path)
  if (found !== undefined) return found
  const fresh: Dir = { current: new Map(), durable: new Map() }
  dirs.set(path, fresh)
  return fresh
}

function inodeOf({ dirs }: Context, path: string): Inode {
  const [dir, name] = split(path)
  const inode = dirs.get(dir)?.current.get(name)
  if (inode === undefined) throw missing(path)
  return inode
}

/** Every changing call passes here: none happens after the cut. */
function step(ctx: Context): void {
  if (ctx.steps >= ctx.cutStep) throw new PowerCut('the power is gone')
  ctx.steps += 1
}

function create(ctx: Context, path: string): Inode {
  step(ctx)
  const [dir, name] = split(path)
  if (dirOf(ctx, dir).current.has(name)) throw Object.assign(new Error(`exists: ${path}`), { code: 'EEXIST' })
  const inode: Inode = { current: Buffer.alloc(0), durable: Buffer.alloc(0), modifiedMs: 0 }
  dirOf(ctx, dir).current.set(name, inode)
  return inode
}

function simulatedFile(ctx: Context, inode: Inode): DiskFile {
  return {
    async write(bytes, position) {
      step(ctx)
      const grown = Buffer.alloc(Math.max(inode.current.length, position + bytes.byteLength))
      inode.current.copy(grown)
      grown.set(bytes, position)
      inode.current = grown
      return bytes.byteLength
    },
    async read(into, position) {
      const part = inode.current.subarray(position, position + into.byteLength)
      into.set(part)
      return part.length
    },
    async datasync() {
      for (let turns = ctx.syncTurns(); turns > 0; turns -= 1) await nextTurn()
      step(ctx)
      inode.durable = Buffer.from(inode.current)
    },
    async truncate(sizeBytes) {
      step(ctx)
      inode.current = Buffer.from(inode.current.subarray(0, sizeBytes))
    },
    sizeBytes: async () => inode.current.length,
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/** A directory after the cut: of each name that was not synced, either the old or the new meaning. */
function survivingDir({ current, durable }: Dir, keep: (inode: Inode) => Inode, luck: () => number): Dir {
  const names = new Map<string, Inode>()
  for (const name of new Set([...current.keys(), ...durable.keys()])) {
    const isNew = current.get(name) !== durable.get(name) && luck() >= 0.5
    const inode = (isNew ? current : durable).get(name)
    if (inode !== undefined) names.set(name, keep(inode))
  }
  return { current: names, durable: new Map(names) }
}

function survivorOf(ctx: Context, luck: () => number): SimulatedDisk {
  const kept = new Map<Inode, Inode>()
  const keep = (inode: Inode): Inode => {
    const known = kept.get(inode) ?? remains(inode, luck)
    kept.set(inode, known)
    return known
  }
  return simulatedDisk(new Map([...ctx.dirs].map(([path, dir]) => [path, survivingDir(dir, keep, luck)])))
}

function moveName(ctx: Context, from: string, to: string): void {
  const inode = inodeOf(ctx, from)
  step(ctx)
  const [fromDir, fromName] = split(from)
  const [toDir, toName] = split(to)
  dirOf(ctx, fromDir).current.delete(fromName)
  dirOf(ctx, toDir).current.set(toName, inode)
}

export function simulatedDisk(dirs = new Map<string, Dir>()): SimulatedDisk {
  const ctx: Context = { dirs, steps: 0, cutStep: Number.POSITIVE_INFINITY, syncTurns: () => 0 }
  return {
    steps: () => ctx.steps,
    cutAt: (at) => {
      ctx.cutStep = at
    },
    slowSyncs: (turns) => {
      ctx.syncTurns = turns
    },
    survivor: (luck) => survivorOf(ctx, luck),
    open: async (path, mode) => simulatedFile(ctx, mode === 'create' ? create(ctx, path) : inodeOf(ctx, path)),
    rename: async (from, to) => moveName(ctx, from, to),
    remove: async (path) => {
      step(ctx)
      const [dir, name] = split(path)
      dirOf(ctx, dir).current.delete(name)
    },
    makeDir: async (path) => {
      dirOf(ctx, path)
    },
    list: async (path) => [...(dirs.get(path)?.current.keys() ?? [])],
    syncDir: async (path) => {
      step(ctx)
      dirOf(ctx, path).durable = new Map(dirOf(ctx, path).current)
    },
    copy: async (from, to) => {
      const bytes = Buffer.from(inodeOf(ctx, from).current)
      Object.assign(create(ctx, to), { current: bytes, durable: bytes })
    },
    stat: async (path) => {
      const [dir, name] = split(path)
      const inode = dirs.get(dir)?.current.get(name)
      return inode && { sizeBytes: inode.current.length, modifiedMs: inode.modifiedMs }
    },
    freeBytes: async () => Number.MAX_SAFE_INTEGER,
  }
}

/** A disk that never syncs, for cases that open hundreds of stores and cut no power. */
export function hastyDisk(disk: Disk): Disk {
  return {
    ...disk,
    open: async (path, mode) => ({ ...(await disk.open(path, mode)), datasync: async () => undefined }),
    syncDir: async () => undefined,
  }
}

/** What a disk does wrong; each is asked before the real call. */
export type Faults = {
  /** Bytes of this write that go through before it fails, undefined when it works. */
  readonly writeFailsAfter?: (path: string) => number | undefined
  readonly syncFails?: (path: string) => boolean
  /** Most bytes that one write takes. */
  readonly shortWriteBytes?: number
  readonly freeBytes?: () => number
}

function fault(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code })
}

function faultyFile(path: string, file: DiskFile, faults: Faults): DiskFile {
  return {
    ...file,
    async write(bytes, position) {
      const limit = faults.writeFailsAfter?.(path)
      if (limit === undefined)
        return file.write(bytes.subarray(0, faults.shortWriteBytes ?? bytes.byteLength), position)
      if (limit > 0) await file.write(bytes.subarray(0, limit), position)
      throw fault('ENOSPC')
    },
    async datasync() {
      if (faults.syncFails?.(path) === true) throw fault('EIO')
      await file.datasync()
    },
  }
}

/** A disk that works except for the faults. */
export function faultyDisk(disk: Disk, faults: Faults): Disk {
  return {
    ...disk,
    open: async (path, mode) => faultyFile(path, await disk.open(path, mode), faults),
    freeBytes: async (path) => faults.freeBytes?.() ?? disk.freeBytes(path),
  }
}
