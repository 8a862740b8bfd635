// The small helper process of `start.ts`.
import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { killGroup, type ProcessOrder, spawnHere } from './spawn.ts'
import { type StarterAsk, type StarterReply, watchUse } from './start.ts'

const running = new Map<number, ChildProcess>()

/** Sends a message; the callback provides backpressure. */
function say(said: StarterReply, done?: () => void): void {
  if (process.connected) process.send?.(said, () => done?.())
}

function start(id: number, order: ProcessOrder): void {
  let child: ChildProcess
  try {
    child = spawnHere(order)
  } catch (error) {
    say({ id, failed: error instanceof Error ? error.message : String(error) })
    return
  }
  child.on('error', ({ message }) => say({ id, failed: message }))
  const { pid } = child
  if (pid === undefined) return
  running.set(id, child)
  say({ id, pid })
  order.descriptors.forEach((what, at) => {
    const stream = child.stdio[at]
    stream?.on('error', () => undefined) // it need not read all of it
    if (what === 'out') passOn(id, at, stream as Readable) // a pipe that we read
  })
  const watch = watchUse(pid, (use) => say({ id, use }))
  child.on('exit', (code) => {
    watch.stop()
    say({ id, exited: code })
  })
  child.on('close', () => {
    running.delete(id)
    say({ id, closed: true })
  })
}

function passOn(id: number, descriptor: number, from: Readable): void {
  from.on('data', (data: Buffer) => {
    from.pause()
    say({ id, descriptor, data }, () => from.resume())
  })
  from.on('close', () => say({ id, descriptor }))
}

function write({ id, descriptor, data }: Extract<StarterAsk, { descriptor: number }>): void {
  const to = running.get(id)?.stdio[descriptor]
  if (!to || !('write' in to)) return
  if (data === undefined) to.end()
  else to.write(data)
}

process.on('message', (ask: StarterAsk) => {
  if ('order' in ask) start(ask.id, ask.order)
  else write(ask)
})
// The daemon is gone: kill the children.
process.on('disconnect', () => {
  for (const { pid } of running.values()) killGroup(pid)
  process.exit(0)
})
