import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LoopDelay, Question, Ready } from './child.ts'

const NANOSECONDS_A_MILLISECOND = 1e6
const P99 = 99

/** The child's side of `launch`: tells its address, answers for its processor time, ends when told or orphaned. */
export function serve(ready: Ready, close: () => Promise<void>): void {
  let turns: ReturnType<typeof monitorEventLoopDelay> | undefined
  process.on('message', (question: Question) => {
    if (question === 'cpu') {
      const { user, system } = process.cpuUsage()
      process.send?.(user + system)
    } else if (question === 'memory') {
      process.send?.(process.memoryUsage.rss())
    } else if (question === 'loop') {
      process.send?.(delayOf(turns))
      // Its timer wakes the process, so it runs only where somebody asks.
      turns ??= monitorEventLoopDelay({ resolution: 1 })
      turns.enable()
      turns.reset()
    } else {
      void end()
    }
  })
  process.on('disconnect', () => void end())
  process.send?.(ready)

  async function end(): Promise<void> {
    await close()
    process.exit(0)
  }
}

function delayOf(turns: ReturnType<typeof monitorEventLoopDelay> | undefined): LoopDelay {
  const ms = (nanoseconds = 0) => nanoseconds / NANOSECONDS_A_MILLISECOND
  return { p99: ms(turns?.percentile(P99)), most: ms(turns?.max) }
}

/** Serves a listener on a free loopback port until told to stop. */
export async function serveHttp(
  listener: RequestListener,
  facts: Readonly<Record<string, string>> = {},
): Promise<void> {
  const server = createServer(listener)
  await listening(server)
  serve({ ...facts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, async () => {
    server.closeAllConnections()
    server.close()
  })
}

async function listening(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

/** What the parent passed to `launch`. */
export function argument<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null') as T
}
